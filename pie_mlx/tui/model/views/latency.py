"""Waits for tokens: percentiles, their distribution over time, and the latest replies with their phases."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from pie_mlx.figures import SLOT_SECONDS, SLOTS, WINDOWS_MINUTES, Slot, percentile, seconds_of
from pie_mlx.tui.model.context import ContextState, Reply, activity
from pie_mlx.tui.model.state import MonitorState

Phase = Literal["queued", "prompt", "decode", "done"]


class Percentiles(msgspec.Struct, frozen=True):
    """Waits in seconds, to five percent; 0 where there were none."""

    count: int = 0
    p50: float = 0.0
    p95: float = 0.0
    p99: float = 0.0


class LatencyWindow(msgspec.Struct, frozen=True):
    """The waits of the last `minutes`, for a first token and for each later one."""

    minutes: int
    first_token: Percentiles
    between_tokens: Percentiles


def latency_windows(state: MonitorState) -> tuple[LatencyWindow, ...]:
    """The last one, five and fifteen minutes."""
    windows = [(minutes, state.recent.window(state.seconds, minutes)) for minutes in WINDOWS_MINUTES]
    return tuple(
        LatencyWindow(minutes, _percentiles(figures.first), _percentiles(figures.between))
        for minutes, figures in windows
    )


def _percentiles(counts: Mapping[int, int]) -> Percentiles:
    return Percentiles(sum(counts.values()), *(percentile(counts, percent) for percent in (50, 95, 99)))


class Heat(msgspec.Struct, frozen=True):
    """Counts by row and column: rows are durations up to `tops` seconds, longest first; columns are slots of ten
    seconds, latest last."""

    tops: tuple[float, ...] = ()
    counts: tuple[tuple[int, ...], ...] = ()


def heat_of(state: MonitorState, kind: Literal["first", "between"], columns: int, rows: int) -> Heat:
    """The waits of the latest `columns` slots, in as many buckets to a row as `rows` rows need."""
    newest = int(state.seconds // SLOT_SECONDS)
    first = newest - min(columns, SLOTS) + 1
    by_slot = {slot.number: _counts(slot, kind) for slot in state.recent.slots if slot.number >= first}
    buckets = [bucket for counts in by_slot.values() for bucket in counts]
    if not buckets or rows < 1:
        return Heat()
    lowest, height = min(buckets), -(-(max(buckets) - min(buckets) + 1) // rows)
    used = -(-(max(buckets) - lowest + 1) // height)
    grid = [[0] * (newest - first + 1) for _ in range(used)]
    for number, counts in by_slot.items():
        for bucket, count in counts.items():
            grid[used - 1 - (bucket - lowest) // height][number - first] += count
    tops = [seconds_of(lowest + (used - row) * height - 1) for row in range(used)]
    return Heat(tuple(tops), tuple(map(tuple, grid)))


def _counts(slot: Slot, kind: Literal["first", "between"]) -> Mapping[int, int]:
    return slot.first if kind == "first" else slot.between


class RequestRow(msgspec.Struct, frozen=True):
    """A reply in one of its phases. Seconds are 0 for phases that have not begun.

    `read` is the part of the prompt that is in KV; `reason` is why it waited, for `waited` seconds.
    """

    process: str
    context: int
    program: str
    phase: Phase
    read: float
    prompt_tokens: int
    cached_tokens: int
    queued: float
    prompt: float
    first_token: float
    per_token: float
    tokens: int
    waited: float
    reason: str

    @property
    def key(self) -> str:
        return f"{self.context} {self.first_token} {self.prompt_tokens}"


def request_rows(state: MonitorState) -> list[RequestRow]:
    """Prompts that wait or are read, then replies that go on, then those that are over, latest first."""
    live = list(state.contexts.values())
    waiting = [_unread(state, context) for context in live if _reads(context)]
    replies = [(context.reply, _goes_on(state, context)) for context in reversed(live) if context.reply is not None]
    decoding = [_row(state, reply, "decode") for reply, goes_on in replies if goes_on]
    latest = sorted([reply for reply, goes_on in replies if not goes_on], key=lambda reply: -reply.latest)
    return [*waiting, *decoding, *(_row(state, reply, "done") for reply in (*latest, *state.replies[::-1]))]


def _reads(context: ContextState) -> bool:
    """Whether it waits for a first token: who has read a prompt and is suspended may ask for nothing, such as a context
    that others were forked from."""
    is_new = not context.held_tokens or context.asks or context.activity in ("waiting", "restoring")
    return bool(context.prompt_tokens) or (context.activity != "running" and context.reply is None and is_new)


def _goes_on(state: MonitorState, context: ContextState) -> bool:
    return not context.prompt_tokens and activity(context, state.seconds) != "idle"


def _unread(state: MonitorState, context: ContextState) -> RequestRow:
    waited = context.waited + (state.seconds - context.since if context.activity != "running" else 0.0)
    return RequestRow(
        process=context.process,
        context=context.id,
        program=_program(state, context.process),
        phase="prompt" if context.prompt_tokens else "queued",
        read=context.read_tokens / context.prompt_tokens if context.prompt_tokens else 0.0,
        prompt_tokens=context.prompt_tokens,
        cached_tokens=0,
        queued=0.0,
        prompt=0.0,
        first_token=0.0,
        per_token=0.0,
        tokens=0,
        waited=waited,
        reason=context.reason or context.wait_reason,
    )


def _row(state: MonitorState, reply: Reply, phase: Phase) -> RequestRow:
    return RequestRow(
        process=reply.process,
        context=reply.context,
        program=_program(state, reply.process),
        phase=phase,
        read=1.0,
        prompt_tokens=reply.prompt_tokens,
        cached_tokens=reply.cached_tokens,
        queued=reply.queued_seconds,
        prompt=reply.prompt_seconds,
        first_token=reply.first - reply.asked,
        per_token=reply.token_seconds,
        tokens=reply.tokens,
        waited=reply.waited,
        reason=reply.reason,
    )


def _program(state: MonitorState, process: str) -> str:
    known = state.processes.get(process)
    return (known.endpoint or known.program) if known else process[:8]
