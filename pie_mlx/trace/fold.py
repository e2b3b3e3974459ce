"""Folds the events of an engine into a trace."""

from collections.abc import Iterable, Iterator

from pie_mlx.events import (
    CallAnswered,
    ContextCreated,
    ContextForked,
    ContextRestored,
    ContextRestoring,
    ContextSuspended,
    EngineStarted,
    Event,
    HttpFetched,
    MarketSettled,
    McpCalled,
    MessageReceived,
    MessageSent,
    PassCompleted,
    ProcessFailed,
    ProcessLaunched,
    ProcessQueued,
    ProcessReturned,
    TickCompleted,
    WaitChanged,
)
from pie_mlx.trace.assembly import ProcessRecord, assembled
from pie_mlx.trace.spans import Arrow, Batch, Trace
from pie_mlx.trace.states import ContextStates


class TraceFold:
    """Takes events in their order."""

    def __init__(self) -> None:
        self._records: dict[str, ProcessRecord] = {}
        self._states: dict[int, ContextStates] = {}
        self._batches: dict[int, Batch] = {}
        self._batches_end = 0.0
        self._sent: dict[tuple[str, int], MessageSent] = {}
        self._received: list[MessageReceived] = []
        self._model = ""
        self._latest = 0.0

    def observe(self, event: Event) -> None:
        """The next event. Recordings without moments in their events have them in the clock that precedes these."""
        self._latest = max(self._latest, getattr(event, "at_seconds", 0.0), getattr(event, "completed_seconds", 0.0))
        match event:
            case ProcessQueued() | ProcessLaunched() | ProcessReturned() | ProcessFailed():
                self._record(event.process).live(event, event.at_seconds or self._latest)
            case CallAnswered() | PassCompleted() | McpCalled() | HttpFetched() | MessageSent() | MessageReceived():
                self._record(event.process).keep(event)
                self._match(event)
            case WaitChanged() | ContextSuspended() | ContextRestoring() | ContextRestored():
                self._states.setdefault(event.context, ContextStates()).observe(event)
            case ContextCreated() | ContextForked():
                self._record(event.process)
            case TickCompleted(model=""):
                end = event.at_seconds or self._latest
                self._batches[event.tick] = _batch(event, self._batches_end, end)
                self._batches_end = end
            case MarketSettled(tick=tick, price=price, model="") if tick in self._batches:
                self._batches[tick] = self._batches[tick]._replace(price=price)
            case EngineStarted(model=model):
                self._model = model
            case _:
                pass

    def trace(self, missed: int = 0) -> Trace:
        """What all events so far tell; `missed` ones were lost."""
        records = sorted(self._records.values(), key=lambda record: record.start)
        batches = tuple(self._batches.values())
        start = min([*(record.start for record in records), *(batch.start for batch in batches)], default=0.0)
        return Trace(
            {record.id: assembled(record, self._states, self._latest) for record in records},
            tuple([*self._launches(records), *self._messages()]),
            batches,
            start,
            max(start, self._latest),
            self._model,
            missed,
        )

    def _record(self, process: str) -> ProcessRecord:
        """Of one whose launch is not among the events, the first event is the beginning."""
        if process not in self._records:
            self._records[process] = ProcessRecord(process, start=self._latest)
        return self._records[process]

    def _match(self, event: Event) -> None:
        match event:
            case MessageSent(topic=topic, message=number):
                self._sent[topic, number] = event
            case MessageReceived():
                self._received.append(event)
            case _:
                pass

    def _launches(self, records: Iterable[ProcessRecord]) -> Iterator[Arrow]:
        for record in records:
            if record.parent in self._records:
                yield Arrow("launch", record.parent, record.start, record.id, record.start)

    def _messages(self) -> Iterator[Arrow]:
        for received in self._received:
            sent = self._sent.get((received.topic, received.message))
            if sent is not None:  # the event of a push that waited for room comes after that of the receiver
                sent_seconds = min(sent.at_seconds, received.at_seconds)
                yield Arrow(received.topic, sent.process, sent_seconds, received.process, received.at_seconds)


def _batch(event: TickCompleted, before: float, end: float) -> Batch:
    """The device has one at a time, but some begin before the engine tells of the one `before`, at its end."""
    start = max(end - event.duration_seconds, min(before, end))
    return Batch(event.tick, start, end, event.contexts, event.tokens, event.waiting, event.used_pages, 0.0)
