"""From the events of a process to its spans."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pie_mlx.events import (
    CallAnswered,
    HttpFetched,
    McpCalled,
    MessageReceived,
    MessageSent,
    PassCompleted,
    ProcessFailed,
    ProcessLaunched,
    ProcessQueued,
    ProcessReturned,
)
from pie_mlx.figures import PROMPT_TOKENS
from pie_mlx.trace.spans import ADMISSION, NEXT_BATCH, OTHER_CALLS, OWN_CODE, STEP, WAIT, ProcessTrace, Span, Track
from pie_mlx.trace.states import RESTORE, ContextStates, Interval, gaps

Kept = CallAnswered | PassCompleted | McpCalled | HttpFetched | MessageSent | MessageReceived
Life = ProcessQueued | ProcessLaunched | ProcessReturned | ProcessFailed
States = Mapping[int, ContextStates]

FORWARD, CALL_MCP = "forward", "call_mcp"
_WAITS = {
    "await_child": "child",
    "await_message": "message",
    "await_broadcast": "message",
    "push": "message",
    "await_incoming": "client",
    "write_http_body": "client",
}
"""Calls that wait for others, and whom for."""


@dataclass(slots=True)
class ProcessRecord:
    """The events of one process, in order."""

    id: str
    start: float = 0.0
    end: float = 0.0
    launched: float = 0.0
    program: str = ""
    username: str = ""
    parent: str = ""
    outcome: str = ""
    kept: list[Kept] = field(default_factory=list[Kept])

    def live(self, event: Life, now: float) -> None:
        """It was queued or launched, or ended."""
        match event:
            case ProcessQueued():
                self.program, self.username, self.start = event.program, event.username, now
            case ProcessLaunched():
                self.start = self.start if self.program else now
                self.program, self.username, self.parent = event.program, event.username, event.parent
                self.launched = now
            case ProcessReturned():
                self.outcome, self.end = "returned", now
            case ProcessFailed():
                self.outcome, self.end = f"{event.error_type}: {event.message}", now

    def keep(self, event: Kept) -> None:
        self.kept.append(event)


def assembled(record: ProcessRecord, states: States, latest: float) -> ProcessTrace:
    """The trace of a process; one that has not ended goes on until `latest`."""
    calls = [event for event in record.kept if isinstance(event, CallAnswered)]
    passes = [event for event in record.kept if isinstance(event, PassCompleted)]
    process = ProcessTrace(record.id, record.program, record.username, record.parent, record.start)
    process.end, process.outcome, process.is_detailed = record.end or latest, record.outcome, bool(calls)
    _count(process, passes)
    spans = [*_launch(record), *_own_code(process, record.launched, calls), *_others(record.kept)]
    for call in calls:
        spans += _call(call, states)
    for one in passes:
        spans += _pass(one, states, is_step=not calls)
    process.spans = sorted((_cut(span, process) for span in spans), key=lambda span: (span.start, -span.end))
    return process


def is_prefill(event: PassCompleted) -> bool:
    """Whether a pass computed a prompt, and not a step with drafts or forced tokens."""
    return event.input_tokens > PROMPT_TOKENS


def _count(process: ProcessTrace, passes: list[PassCompleted]) -> None:
    """Tokens and passes, as the engine's own figures count them."""
    for event in passes:
        process.passes += 1 + event.following
        process.cached_tokens += event.attached_tokens
        if is_prefill(event):
            process.prefill_tokens += event.computed_tokens
        else:
            process.decode_tokens += event.computed_tokens


def _cut(span: Span, process: ProcessTrace) -> Span:
    start = min(max(span.start, process.start), process.end)
    return span._replace(start=start, end=min(max(span.end, start), process.end))


def _launch(record: ProcessRecord) -> Iterator[Span]:
    if record.launched > record.start:
        yield Span("waits", ADMISSION, WAIT + ADMISSION, record.start, record.launched)


def _own_code(process: ProcessTrace, launched: float, calls: list[CallAnswered]) -> Iterator[Span]:
    if calls:
        answered = (Interval(call.began_seconds, call.at_seconds) for call in calls)
        for gap in gaps(answered, launched or process.start, process.end):
            yield Span("program", OWN_CODE, OWN_CODE, gap.start, gap.end)


def _call(call: CallAnswered, states: States) -> Iterator[Span]:
    """A call: a step, a wait for somebody else, or another call, with what held up its context."""
    start, end = call.began_seconds, call.at_seconds
    arguments = {
        name: value
        for name, value in (("context", call.context), ("about", call.about), ("error", call.error))
        if value
    }
    if call.call == FORWARD:
        yield Span("steps", STEP, STEP, start, end, arguments)
    elif call.call in _WAITS:
        whom = _WAITS[call.call]
        yield Span("waits", f"{whom} {call.about}".rstrip(), WAIT + whom, start, end, arguments)
    elif call.call != CALL_MCP:
        yield Span("calls", call.call, OTHER_CALLS, start, end, arguments)
        if call.context:
            yield from _held(states, call.context, start, end)


def _pass(event: PassCompleted, states: States, *, is_step: bool) -> Iterator[Span]:
    """A pass: waiting for pages or a batch, then computing. Its own step, where no call tells of that."""
    requested, end = event.requested_seconds, event.completed_seconds
    start = min(max(event.started_seconds, requested), end)
    track: Track = "prefill" if is_prefill(event) else "decode"
    if is_step:
        yield Span("steps", STEP, STEP, requested, end, {"context": event.context})
    held = list(_held(states, event.context, requested, start))
    yield from held
    for gap in gaps((Interval(span.start, span.end) for span in held), requested, start):
        if gap.end > gap.start:
            yield Span("waits", NEXT_BATCH, WAIT + NEXT_BATCH, gap.start, gap.end, {"context": event.context})
    yield Span(track, f"{track} {event.computed_tokens}", track, start, end, _facts(event))


def _held(states: States, context: int, start: float, end: float) -> Iterator[Span]:
    known = states.get(context)
    for held in () if known is None else known.within(start, end):
        part = RESTORE if held.reason == RESTORE else WAIT + held.reason
        yield Span("waits", held.text, part, held.start, held.end, {"context": context})


def _facts(event: PassCompleted) -> dict[str, object]:
    facts: dict[str, object] = {
        "context": event.context,
        "tokens": event.computed_tokens,
        "cached": event.attached_tokens,
        "held": event.held_tokens,
        "batch": event.batch_contexts,
        "following": event.following,
        "drafted": event.guessed_tokens,
        "accepted": event.guessed_right,
        "forced": event.forced_tokens,
        "bid": round(event.bid, 4),
        "not cached": event.miss,
        "finish": event.finish,
    }
    return {name: value for name, value in facts.items() if value}


def _others(kept: list[Kept]) -> Iterator[Span]:
    for event in kept:
        match event:
            case McpCalled(tool=tool, method=method, server=server, error=error) if event.at_seconds:
                facts = {"server": server, "method": method, **({"error": error} if error else {})}
                start = event.at_seconds - event.duration_seconds
                yield Span("tools", tool or method, "tools", start, event.at_seconds, facts)
            case HttpFetched(host=host, port=port, request=request, error=error):
                facts = {"host": host, "port": port, **({"error": error} if error else {})}
                start = event.at_seconds - event.duration_seconds
                yield Span("http", f"{request or 'tunnel'} {host}", "http", start, event.at_seconds, facts)
            case MessageSent(topic=topic, message=number):
                yield _message(f"send {topic}", event.at_seconds, number)
            case MessageReceived(topic=topic, message=number):
                yield _message(f"receive {topic}", event.at_seconds, number)
            case _:
                pass


def _message(name: str, now: float, number: int) -> Span:
    return Span("messages", name, "messages", now, now, {"message": number})
