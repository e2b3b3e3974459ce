"""A trace in the Trace Event Format, which Perfetto (https://ui.perfetto.dev) and chrome://tracing open."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pie_mlx.trace.spans import TRACKS, Arrow, ProcessTrace, Span, Trace

Event = dict[str, Any]

ENGINE_PID, FIRST_PID = 1, 2
LANES = 10_000
"""Threads of a track at most: spans of one that overlap get a thread each."""
PROGRAM_TID = 1
_SHORTEST = 1e-6
"""Seconds: what has no length gets one to be seen, and to hold an arrow."""


def trace_events(trace: Trace) -> list[Event]:
    """Names first, then what happened in the order of time. Times are microseconds since the start of the trace."""
    names = list(_names(ENGINE_PID, f"engine {trace.model}".rstrip(), {PROGRAM_TID: "batches"}))
    timed, places = list[Event](), dict[tuple[str, str, float], int]()
    pids = {process: FIRST_PID + place for place, process in enumerate(trace.processes)}
    for process in trace.processes.values():
        pid, threads = pids[process.id], {PROGRAM_TID: "program"}
        life = Span("program", process.program or process.id, "program", process.start, process.end, _facts(process))
        timed.append(_complete(life, pid, PROGRAM_TID, trace.start))
        for tid, name, span in _placed(process.spans):
            threads[tid] = name
            places[process.id, span.track, span.start] = tid
            timed.append(_complete(span, pid, tid, trace.start))
        names += _names(pid, f"{process.program} {process.id[:8]}", threads)
    timed += _batches(trace)
    for number, arrow in enumerate(trace.arrows, start=1):
        timed += _flow(arrow, number, pids, places, trace.start)
    return [*names, *sorted(timed, key=lambda event: (event["ts"], -event.get("dur", 0.0)))]


def _names(pid: int, process: str, threads: Mapping[int, str]) -> Iterator[Event]:
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": process}}
    yield {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": pid}}
    for tid, name in sorted(threads.items()):
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": {"sort_index": tid}}


def _facts(process: ProcessTrace) -> dict[str, object]:
    return {
        "process": process.id,
        "user": process.username,
        "outcome": process.outcome or "did not end",
        "passes": process.passes,
        "prefill tokens": process.prefill_tokens,
        "cached tokens": process.cached_tokens,
        "decode tokens": process.decode_tokens,
    }


def _placed(spans: Iterable[Span]) -> Iterator[tuple[int, str, Span]]:
    """Each span with the number and the name of its thread: the first lane of its track that is free again."""
    busy: dict[str, list[tuple[float, int]]] = {}
    for span in spans:
        lanes = busy.setdefault(span.track, [])
        lane = heapq.heappop(lanes)[1] if lanes and lanes[0][0] <= span.start else len(lanes)
        heapq.heappush(lanes, (max(span.end, span.start + _SHORTEST), lane))
        tid = TRACKS.index(span.track) * LANES + lane + PROGRAM_TID
        yield tid, span.track if not lane else f"{span.track} {lane + 1}", span


def _complete(span: Span, pid: int, tid: int, origin: float) -> Event:
    start = _micros(span.start - origin)
    return {
        "ph": "X",
        "name": span.name or span.part,
        "cat": span.part,
        "pid": pid,
        "tid": tid,
        "ts": start,
        "dur": max(_micros(span.end - origin) - start, 1.0 if span.track == "messages" else 0.0),
        "args": dict(span.arguments),
    }


def _batches(trace: Trace) -> Iterator[Event]:
    for batch in trace.batches:
        facts: dict[str, object] = {"tick": batch.tick, "contexts": batch.contexts, "tokens": batch.tokens}
        span = Span("program", f"batch of {batch.contexts}", "batch", batch.start, batch.end, facts)
        yield _complete(span, ENGINE_PID, 1, trace.start)
        now = _micros(batch.end - trace.start)
        yield _counter("batch", now, {"contexts": batch.contexts, "tokens": batch.tokens})
        yield _counter("waiting contexts", now, {"contexts": batch.waiting})
        yield _counter("pages in use", now, {"pages": batch.used_pages})
        yield _counter("clearing price", now, {"credits": batch.price})


def _counter(name: str, now: float, values: dict[str, object]) -> Event:
    return {"ph": "C", "name": name, "pid": ENGINE_PID, "tid": 0, "ts": now, "args": values}


def _flow(
    arrow: Arrow,
    number: int,
    pids: Mapping[str, int],
    places: Mapping[tuple[str, str, float], int],
    origin: float,
) -> Iterator[Event]:
    """Its ends are bound to what encloses them: a message, or the life of the process for a launch."""
    ends = (("s", arrow.sender, arrow.sent), ("f", arrow.receiver, arrow.received))
    for phase, process, moment in ends:
        tid = places.get((process, "messages", moment), PROGRAM_TID)
        event = {"ph": phase, "id": number, "name": arrow.name, "cat": "flow", "pid": pids[process], "tid": tid}
        yield {**event, "ts": _micros(moment - origin), **({"bp": "e"} if phase == "f" else {})}


def _micros(seconds: float) -> float:
    return round(seconds * 1e6, 3)
