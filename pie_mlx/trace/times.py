"""Where the time of a process went."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from pie_mlx.trace.spans import OTHER_CALLS, OWN_CODE, STEP, ProcessTrace, Span, Trace

OTHER = "own code and calls that were not recorded"
"""What is left, where calls were not recorded."""

_FIRST = ("decode", "prefill", "restore")
"""The order in which kinds count if several overlap: first these, then a wait, then the others."""
_LAST = (STEP, "tools", "http", OTHER_CALLS)
_WITHOUT_LENGTH = ("messages",)


class Part(msgspec.Struct, frozen=True):
    """What a part of the time was spent on. Of `self_seconds` each moment counts once, as one part; `total_seconds` are
    those of all `count` spans, which may be at once."""

    part: str
    self_seconds: float
    total_seconds: float
    count: int


class ProcessTimes(msgspec.Struct, frozen=True):
    """The parts sum to `seconds`. Tokens are those that were computed, but for the cached ones."""

    process: str
    program: str
    parent: str
    outcome: str
    seconds: float
    passes: int
    prefill_tokens: int
    cached_tokens: int
    decode_tokens: int
    parts: tuple[Part, ...]


def times_of(trace: Trace) -> list[ProcessTimes]:
    """The times of each process of a trace."""
    return [process_times(process) for process in trace.processes.values()]


def process_times(process: ProcessTrace) -> ProcessTimes:
    """Where the time of one process went: the largest part first."""
    rest = OWN_CODE if process.is_detailed else OTHER
    own, spans = self_seconds(process, rest), defaultdict[str, list[Span]](list)
    for span in process.spans:
        if span.part != OWN_CODE and span.part not in _WITHOUT_LENGTH:
            spans[span.part].append(span)
    parts = [
        Part(part, own.get(part, 0.0), sum([span.seconds for span in found]), len(found))
        for part, found in spans.items()
    ]
    code = [span for span in process.spans if span.part == OWN_CODE]
    total = sum([span.seconds for span in code]) if process.is_detailed else own.get(rest, 0.0)
    parts.append(Part(rest, own.get(rest, 0.0), total, len(code)))
    return ProcessTimes(
        process.id,
        process.program,
        process.parent,
        process.outcome,
        process.end - process.start,
        process.passes,
        process.prefill_tokens,
        process.cached_tokens,
        process.decode_tokens,
        tuple(sorted(parts, key=lambda part: -part.self_seconds)),
    )


def self_seconds(process: ProcessTrace, rest: str) -> Mapping[str, float]:
    """How long each part was what the process did, counting each moment once; what no span covers is the `rest`."""
    spans = [span for span in process.spans if span.part != OWN_CODE]
    edges = sorted([*((span.start, 1, span.part) for span in spans), *((span.end, -1, span.part) for span in spans)])
    found, active = defaultdict[str, float](float), defaultdict[str, int](int)
    before = process.start
    for moment, change, part in [*edges, (process.end, 0, rest)]:
        if moment > before:
            found[_foremost(active, rest)] += moment - before
            before = moment
        active[part] += change
        if not active[part]:
            del active[part]
    return found


def _foremost(active: Iterable[str], rest: str) -> str:
    return min(active, key=_rank, default=rest)


def _rank(part: str) -> tuple[int, str]:
    if part in _FIRST:
        return _FIRST.index(part), ""
    if part in _LAST:
        return len(_FIRST) + 1 + _LAST.index(part), ""
    return len(_FIRST), part
