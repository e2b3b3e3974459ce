"""What the engine does: passes and ticks, and with its memory."""

from typing import Literal

from pie_mlx.events.base import Event


class EngineStarted(Event, frozen=True):
    """A model and a pool of `total_pages` pages of `page_size` tokens are ready; `policy` is the scheduler's."""

    model: str
    policy: str
    total_pages: int
    page_size: int


class ModelChanged(Event, frozen=True):
    """A model of an engine with several, or with one that comes and goes, is being loaded, is ready, or has left the
    memory, of which it takes `size_bytes`. `text` is why it `failed`.

    The engine tells of each in the order of its configuration when it starts. A loaded one has a pool of `total_pages`
    pages of `page_size` tokens; an encoder has none, and a log of an older engine does not say (0). `draft_model`
    guesses for it.
    """

    model: str
    state: Literal["loading", "loaded", "unloading", "unloaded", "failed"]
    text: str = ""
    size_bytes: int = 0
    at_seconds: float = 0.0
    total_pages: int = 0
    page_size: int = 0
    draft_model: str = ""


class ModelProgressed(Event, frozen=True):
    """Of a model that is being loaded, `progress` of the weights is in memory, from 0 to 1."""

    model: str
    progress: float
    at_seconds: float = 0.0


class PassCompleted(Event, frozen=True):
    """One forward pass: tokens attached from the prefix cache, tokens computed, and rows read.

    `held_tokens` were in the context before it. `bid` is what the context bid in the end; it was computed from the
    horizon `remaining_tokens` and `variation`, or declared by the program when `remaining_tokens` is 0. Of the tokens
    that the engine itself drafted for it, `guessed_tokens`, the first `guessed_right` were verified. `following` passes
    of a token each came right after it, or were drawn ahead of it, and are counted with it. Its first tokens were in a
    batch at `started_seconds`. `replayed_tokens` were known and computed again: lost ones before it, and of the
    computed ones those whose pages were cached; `restored_tokens` of them were lost. `loaded_tokens` of the attached
    ones came from disk, and `reread_tokens` of the held ones since the pass before. `miss` is why the first page of a
    prompt that was not cached was not, `miss_reason` its kind. `batch_contexts` were in the first batch of it. `finish`
    is why the text ended with it: `stop` after a token that ends it, `rule` where its rule ends it, `length` after as
    many as were asked for, "" if it goes on or its call does not say. Of the computed tokens, `forced_tokens` were
    appended to the text without being drawn, as a grammar left no choice.
    """

    process: str
    context: int
    attached_tokens: int
    computed_tokens: int
    rows_read: int
    held_tokens: int = 0
    requested_seconds: float = 0.0
    completed_seconds: float = 0.0
    bid: float = 0.0
    remaining_tokens: float = 0.0
    variation: float = 1.0
    guessed_tokens: int = 0
    guessed_right: int = 0
    following: int = 0
    started_seconds: float = 0.0
    replayed_tokens: int = 0
    miss: str = ""
    miss_reason: str = ""
    loaded_tokens: int = 0
    restored_tokens: int = 0
    batch_contexts: int = 0
    finish: str = ""
    reread_tokens: int = 0
    forced_tokens: int = 0

    @property
    def input_tokens(self) -> int:
        """Tokens that the program gave it, cached ones included."""
        return self.attached_tokens + self.computed_tokens - self.following - self.forced_tokens

    @property
    def drawn_tokens(self) -> int:
        """Tokens that it added to a text, if it reads one."""
        return 1 + self.following + self.guessed_right + self.forced_tokens


class PromptProgressed(Event, frozen=True):
    """A pass of several ticks has `tokens` of its `prompt_tokens` in KV; cached ones count."""

    context: int
    tokens: int
    prompt_tokens: int


class TickCompleted(Event, frozen=True):
    """One batch: contexts and tokens in it, contexts left waiting, and the pages in use after it.

    Of its tokens, `decoded_tokens` were added to texts and `prompt_tokens` are of prompts or were lost and computed
    again; what is left are drafts that were wrong. A log of an older engine does not say (None).
    `ahead`: it was computed before the programs asked for it; `dropped` steps of a context were, and no program asked.
    `steps` counts the batch and those of a token per context that came right after it; tokens and duration are of all
    of them.
    """

    tick: int
    contexts: int
    tokens: int
    waiting: int
    duration_seconds: float
    ahead: bool = False
    steps: int = 1
    used_pages: int = 0
    dropped: int = 0
    at_seconds: float = 0.0
    decoded_tokens: int | None = None
    prompt_tokens: int = 0
    model: str = ""


class PagesSpilled(Event, frozen=True):
    """Pages fell out of the pool and were written to the spill file, which now holds `stored_pages`."""

    pages: int
    stored_pages: int
    model: str = ""


class SpillChanged(Event, frozen=True):
    """The spill file works (`ready`), or pages are computed again because it is `full`, `failed` or `damaged`."""

    state: Literal["ready", "full", "failed", "damaged"]
    text: str
    model: str = ""


class PagesStored(Event, frozen=True):
    """Pages were written to the disk cache, in a file of `size_bytes`."""

    pages: int
    size_bytes: int


class PagesDropped(Event, frozen=True):
    """Pages were not written to the disk cache: others took their place too soon, or the disk refused them."""

    pages: int


class PagesLoaded(Event, frozen=True):
    """Pages of `size_bytes` were read from the disk cache in `seconds`."""

    pages: int
    size_bytes: int
    seconds: float


class DiskCacheChanged(Event, frozen=True):
    """The disk cache works (`ready`), or writes nothing for a while (`failed`)."""

    state: Literal["ready", "failed"]
    text: str
    model: str = ""


class MemoryChanged(Event, frozen=True):
    """The system's memory became short (`warning`, `critical`) or sufficient (`normal`), and the engine's measures.

    `available_bytes` are left for programs; `withheld_pages` of the pool stay unused.
    """

    level: Literal["normal", "warning", "critical"]
    text: str
    available_bytes: int
    withheld_pages: int = 0
    model: str = ""
