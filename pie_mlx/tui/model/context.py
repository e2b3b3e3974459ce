"""A context: its pages, its bid, and where its time went."""

from typing import Literal

import msgspec

from pie_mlx.events import PassCompleted

Activity = Literal["running", "waiting", "suspended", "restoring"]
SpanKind = Literal["forward", "waiting", "suspended", "restoring", "tool"]

SPANS = 96
IDLE_SECONDS = 1.0
MERGE_SECONDS = 0.05
"""Passes closer than this form one span of the timeline."""


class Span(msgspec.Struct, frozen=True):
    """The activity of a context from `start` to `end`, in seconds; between spans its program ran its own code."""

    kind: SpanKind
    start: float
    end: float


class Reply(msgspec.Struct, frozen=True):
    """A prompt and the text after it. `asked`, `started` (first tokens in a batch), `first` and `latest` (token) are
    times of the engine's clock.

    `prompt_tokens` were read, `cached_tokens` of them attached; `tokens` were drawn. `waited` seconds, with the latest
    `reason`, it left the batch to others.
    """

    process: str
    context: int
    asked: float
    started: float
    first: float
    latest: float
    prompt_tokens: int
    cached_tokens: int
    tokens: int = 1
    waited: float = 0.0
    reason: str = ""

    @property
    def queued_seconds(self) -> float:
        """Until the device began; all of it where an older engine did not say when."""
        return max(0.0, self.started - self.asked)

    @property
    def prompt_seconds(self) -> float:
        """From there to the first token."""
        return self.first - max(self.asked, self.started)

    @property
    def token_seconds(self) -> float:
        """Between two tokens, on average."""
        return (self.latest - self.first) / (self.tokens - 1) if self.tokens > 1 else 0.0


class ContextState(msgspec.Struct, frozen=True):
    """`own_pages` are held by no other context, `shared_pages` by others too; `effective_pages` counts a shared page in
    equal parts. All are pages in the pool, as the engine counted them.

    `since` is when `activity` began, `reason` a text why it waits, `passed` when its latest pass completed. While a
    prompt is read, `read_tokens` of its `prompt_tokens` are in KV. One that is suspended `asks` for its pages, or its
    program wants nothing of it. It `waited` so long since that pass, for
    `wait_reason`. `model` is the name of its model.
    """

    id: int
    process: str
    account: int
    created: float
    parent: int = 0
    own_pages: int = 0
    shared_pages: int = 0
    effective_pages: float = 0.0
    held_tokens: int = 0
    bid: float = 0.0
    passes: int = 0
    activity: Activity = "running"
    reason: str = ""
    since: float = 0.0
    passed: float = 0.0
    released: float = 0.0
    spans: tuple[Span, ...] = ()
    reply: Reply | None = None
    read_tokens: int = 0
    prompt_tokens: int = 0
    waited: float = 0.0
    wait_reason: str = ""
    asks: bool = False
    model: str = ""

    def held_pages(self, page_size: int) -> int:
        """Pages of its tokens, in the pool or out of it."""
        return -(-self.held_tokens // page_size)


def activity(context: ContextState, seconds: float) -> Activity | Literal["idle"]:
    """The activity of a context at `seconds`: idle when it neither waits nor had a pass for IDLE_SECONDS."""
    if context.activity != "running" or seconds - context.passed < IDLE_SECONDS:
        return context.activity
    return "idle"


def decoded_tokens(event: PassCompleted) -> int:
    """Tokens that a pass added to the text: its own, if it read no prompt, those that it was given no choice about, its
    right guesses and what followed."""
    reads_prompt = event.input_tokens - event.attached_tokens - event.guessed_tokens > 1
    return event.drawn_tokens - reads_prompt


def with_span(spans: tuple[Span, ...], span: Span) -> tuple[Span, ...]:
    """The spans with one more, merged with the latest if there is no gap."""
    latest = spans[-1] if spans else None
    if latest is not None and latest.kind == span.kind and span.start - latest.end < MERGE_SECONDS:
        return (*spans[:-1], Span(span.kind, min(latest.start, span.start), span.end))
    return (*spans[1 - SPANS :], span)
