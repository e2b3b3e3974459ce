"""A mutable state, while events are folded into it."""

from collections import deque

from msgspec.structs import replace

from pie_mlx.events import (
    BidDeclared,
    ContextCreated,
    ContextForked,
    ContextReleased,
    ContextRestored,
    ContextRestoring,
    ContextSuspended,
    EngineStarted,
    Event,
    McpCalled,
    McpServerStarted,
    McpServerStopped,
    McpToolsListed,
    PagesCounted,
    PassCompleted,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessReturned,
    PromptProgressed,
    TickCompleted,
    TokensDrawn,
    WaitChanged,
)
from pie_mlx.figures import Figures
from pie_mlx.plural import plural
from pie_mlx.tui.model.context import ContextState, Span, SpanKind, decoded_tokens, with_span
from pie_mlx.tui.model.folding.log_entries import log_entry
from pie_mlx.tui.model.folding.passes import after_pass
from pie_mlx.tui.model.folding.pools import Pools
from pie_mlx.tui.model.mcp import after_mcp
from pie_mlx.tui.model.process import Outcome, Stream, ended, ending, launched, with_call, with_output
from pie_mlx.tui.model.state import (
    ENDED_PROCESSES,
    EVICTIONS,
    HISTORY_SAMPLES,
    LATENCY_SAMPLES,
    LOG_LINES,
    RELEASED_CONTEXTS,
    REPLIES,
    Eviction,
    LogLine,
    MonitorState,
)
from pie_mlx.tui.model.token_stream import after_drawn


class StateBuilder:
    """Mutable copies of the fields that change; `state` returns them as the next state."""

    def __init__(self, state: MonitorState) -> None:
        self._state = state
        self.seconds = state.seconds
        self.started = state.events > 0
        self.started_seconds = state.started_seconds
        self.sampled_seconds = state.sampled_seconds
        self.events = state.events
        self.engine = state.engine
        self.ticked_seconds = state.ticked_seconds
        self.tokens = state.tokens
        self.throughput = state.throughput
        self.tick_seconds = state.tick_seconds
        self.batch_contexts = state.batch_contexts
        self.batch_tokens = state.batch_tokens
        self.pools = Pools(state.pools, state.engine.model if state.engine else "")
        self.latencies = deque(state.latencies, LATENCY_SAMPLES)
        self.processes = dict(state.processes)
        self.contexts = dict(state.contexts)
        self.released = dict(state.released)
        self.history = deque(state.history, HISTORY_SAMPLES)
        self.log: deque[LogLine] = deque(state.log, LOG_LINES)
        self.log_lines = state.log_lines
        self.evictions = deque(state.evictions, EVICTIONS)
        self.mcp = state.mcp
        self.figures = Figures(state.recent)
        self.replies = deque(state.replies, REPLIES)
        self.streams = state.streams

    def state(self) -> MonitorState:
        """The state after all events so far."""
        self._forget_the_oldest()
        return replace(
            self._state,
            seconds=self.seconds,
            started_seconds=self.started_seconds,
            sampled_seconds=self.sampled_seconds,
            events=self.events,
            engine=self.engine,
            ticked_seconds=self.ticked_seconds,
            tokens=self.tokens,
            throughput=self.throughput,
            tick_seconds=self.tick_seconds,
            batch_contexts=self.batch_contexts,
            batch_tokens=self.batch_tokens,
            pools=self.pools.finished(),
            latencies=tuple(self.latencies),
            processes=self.processes,
            contexts=self.contexts,
            released=self.released,
            history=tuple(self.history),
            log=tuple(self.log),
            log_lines=self.log_lines,
            evictions=tuple(self.evictions),
            mcp=self.mcp,
            recent=self.figures.recent(),
            replies=tuple(self.replies),
            streams=self.streams,
        )

    def apply(self, event: Event) -> None:
        """Apply one event, at `seconds`."""
        if not self.started:
            self.started = True
            self.started_seconds = self.sampled_seconds = self.seconds
        self.events += 1
        self._log(event)
        self.pools.apply(event)
        if not isinstance(event, PassCompleted):
            self.figures.observe(event, self.seconds)
        match event:
            case PassCompleted():
                self._passed(event)
            case TickCompleted():
                self._ticked(event)
            case WaitChanged():
                self._wait_changed(event)
            case _:
                self._apply_program_event(event)

    def _apply_program_event(self, event: Event) -> None:
        match event:
            case ProcessLaunched():
                self.processes[event.process] = launched(event, self.seconds)
            case ProcessOutput(process=process, stream=stream, text=text):
                self._gave_out(process, stream, text)
            case ProcessMessage(process=process, text=text, format=format):
                self._gave_out(process, "message", text + "\n" if format == "json" else text)
            case ProcessFile(process=process, name=name, size_bytes=size):
                self._gave_out(process, "file", f"{name or 'file'} ({plural(size, 'byte')})")
            case ProcessReturned(process=process, value=value):
                self._ended(process, *ending("", value))
            case ProcessFailed(process=process, error_type=kind, message=message):
                self._ended(process, *ending(kind, message))
            case _:
                self._apply_page_event(event)

    def _apply_page_event(self, event: Event) -> None:
        match event:
            case EngineStarted():
                self._engine_started(event)
            case ContextCreated():
                self._created(event, parent=0, held_tokens=event.shared_pages * self.pools.page_size(event.model))
            case ContextForked():
                source = self.contexts.get(event.source)
                self._created(event, parent=event.source, held_tokens=source.held_tokens if source else 0)
            case ContextReleased():
                self._released(event)
            case ContextSuspended():
                self._suspended(event)
            case ContextRestoring():
                self._restoring(event)
            case ContextRestored(context=number):
                self._active(number, "suspended", "restoring")
            case PagesCounted():
                self._counted(event)
            case PromptProgressed(context=number, tokens=tokens, prompt_tokens=whole):
                if context := self.contexts.get(number):
                    self.contexts[number] = replace(context, read_tokens=tokens, prompt_tokens=whole)
            case _:
                self._apply_other_event(event)

    def _apply_other_event(self, event: Event) -> None:
        match event:
            case McpServerStarted() | McpServerStopped() | McpCalled() | McpToolsListed():
                self.mcp = after_mcp(self.mcp, event)
                if isinstance(event, McpCalled) and (process := self.processes.get(event.process)):
                    self.processes[process.id] = with_call(process, event.duration_seconds, self.seconds)
            case TokensDrawn():
                self.streams = after_drawn(self.streams, event)
            case BidDeclared(context=number, bid=bid):
                if context := self.contexts.get(number):
                    self.contexts[number] = replace(context, bid=bid)
            case _:
                pass

    def _gave_out(self, name: str, stream: Stream, text: str) -> None:
        if process := self.processes.get(name):
            self.processes[name] = with_output(process, stream, text, self.seconds)

    def _ended(self, name: str, outcome: Outcome, result: str) -> None:
        if process := self.processes.get(name):
            self.processes[name] = ended(process, outcome, result, self.seconds)

    # The engine.

    def _engine_started(self, event: EngineStarted) -> None:
        self.engine = event
        if self.pools.start(event):
            self.contexts, self.streams = {}, {}

    def _ticked(self, event: TickCompleted) -> None:
        self.ticked_seconds = self.seconds
        self.tokens += event.tokens
        self.throughput = self.throughput.ticked(event)
        self.tick_seconds = event.duration_seconds / event.steps
        self.batch_contexts, self.batch_tokens = event.contexts, event.tokens // event.steps

    # Contexts.

    def _created(self, event: ContextCreated | ContextForked, *, parent: int, held_tokens: int) -> None:
        self.contexts[event.context] = ContextState(
            id=event.context,
            process=event.process,
            account=event.account,
            created=self.seconds,
            parent=parent,
            held_tokens=held_tokens,
            since=self.seconds,
            model=event.model or self.pools.first,
        )
        process = self.processes.get(event.process)
        if process and not process.account:
            self.processes[event.process] = replace(process, account=event.account)

    def _counted(self, event: PagesCounted) -> None:
        for pages in event.contexts:
            if context := self.contexts.get(pages.context):
                self.contexts[pages.context] = replace(
                    context, own_pages=pages.own, shared_pages=pages.shared, effective_pages=pages.effective
                )
        for held in event.processes:
            if process := self.processes.get(held.process):
                own, shared = self.pools.held_by(held.process)
                self.processes[held.process] = replace(process, own_pages=own, shared_pages=shared)

    def _released(self, event: ContextReleased) -> None:
        if context := self.contexts.pop(event.context, None):
            spans = self._closed_spans(context)
            if context.reply is not None:
                self.replies.append(context.reply)
            self.released[context.id] = replace(context, released=self.seconds, spans=spans, reply=None)

    def _passed(self, event: PassCompleted) -> None:
        latency = max(0.0, event.completed_seconds - event.requested_seconds)
        decoded = decoded_tokens(event)
        self.throughput = self.throughput.passed(decoded)
        self.latencies.append(latency / (1 + event.following))
        timed = self.figures.passed(event, self.seconds)
        if context := self.contexts.get(event.context):
            if self.throughput.by_passes:
                self.pools.count_decoded(context.model, decoded)
            if timed is not None and timed.is_first and context.reply is not None:
                self.replies.append(context.reply)
            self.contexts[event.context] = after_pass(context, event, timed, self.seconds, latency)
        if process := self.processes.get(event.process):
            self.processes[event.process] = replace(
                process,
                tokens=process.tokens + event.computed_tokens,
                recent_decoded=process.recent_decoded + decoded,
                passes=process.passes + 1 + event.following,
                miss=event.miss or process.miss,
            )

    def _wait_changed(self, event: WaitChanged) -> None:
        context = self.contexts.get(event.context)
        if context is None:
            return
        if not event.reason:
            self._active(event.context, "waiting")
        elif context.activity == "restoring" and not event.text.startswith("suspended"):
            return  # until all is there it is restoring, whatever the rest of it waits for
        elif context.activity in ("suspended", "restoring"):
            self.contexts[event.context] = replace(context, activity="suspended", reason=event.text, asks=True)
        else:
            since = context.since if context.activity == "waiting" else self.seconds
            self.contexts[event.context] = replace(context, activity="waiting", reason=event.text, since=since)

    def _restoring(self, event: ContextRestoring) -> None:
        if context := self.contexts.get(event.context):
            self.contexts[event.context] = replace(
                context,
                activity="restoring",
                reason=event.text,
                since=self.seconds,
                spans=self._closed_spans(context),
            )

    def _active(self, number: int, *after: SpanKind) -> None:
        """A context stopped waiting, or is back in the pool."""
        context = self.contexts.get(number)
        if context and context.activity in after:
            self.contexts[number] = replace(
                context,
                activity="running",
                reason="",
                since=self.seconds,
                spans=self._closed_spans(context),
                waited=context.waited + self.seconds - context.since,
                wait_reason=context.reason or context.wait_reason,
            )

    def _closed_spans(self, context: ContextState) -> tuple[Span, ...]:
        if context.activity == "running":
            return context.spans
        return with_span(context.spans, Span(context.activity, context.since, self.seconds))

    def _suspended(self, event: ContextSuspended) -> None:
        context = self.contexts.get(event.context)
        if context is None:
            return
        spans = self._closed_spans(context)
        self.contexts[event.context] = replace(
            context, activity="suspended", reason=event.text, since=self.seconds, spans=spans, asks=False
        )
        if event.for_context != event.context:
            names = self._program_of(event.context), self._program_of(event.for_context)
            about = event.context, names[0], event.for_context, names[1], event.text
            self.evictions.append(Eviction(self.seconds, *about, context.model))

    def _program_of(self, context: int) -> str:
        found = self.contexts.get(context) or self.released.get(context)
        process = self.processes.get(found.process) if found else None
        return process.program if process else ""

    # Kept history.

    def _log(self, event: Event) -> None:
        entry = log_entry(event)
        if entry is None:
            return
        process = entry.process or self._process_of(entry.context)
        known = self.processes.get(process)
        source = known.program if known else "engine"
        self.log_lines += 1
        self.log.append(LogLine(self.log_lines, self.seconds, entry.level, process, source, entry.text, entry.own))

    def _process_of(self, context: int) -> str:
        found = self.contexts.get(context) if context else None
        return found.process if found else ""

    def _forget_the_oldest(self) -> None:
        ended = [name for name, process in self.processes.items() if not process.lives]
        for name in ended[: max(0, len(ended) - ENDED_PROCESSES)]:
            del self.processes[name]
        for number in list(self.released)[: max(0, len(self.released) - RELEASED_CONTEXTS)]:
            del self.released[number]
