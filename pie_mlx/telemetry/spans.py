"""Folds events into spans that have ended, with names and attributes of the conventions (GenAI, MCP, HTTP)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import msgspec

from pie_mlx.events import (
    ContextReleased,
    EngineStarted,
    Event,
    HttpFetched,
    McpCalled,
    PassCompleted,
    ProcessFailed,
    ProcessLaunched,
    ProcessReturned,
    TokensComputed,
)
from pie_mlx.telemetry.reply import Reply
from pie_mlx.trace.traceparent import TraceParent, parse_traceparent, trace_of

PROVIDER = "pie_mlx"
CALL_TOOL, TOOL_ERROR = "tools/call", "tool_error"
REQUESTS = "openai"
"""The program that answers requests; its input names the path."""

Value = str | int | float | bool | list[str]


class Finished(NamedTuple):
    """A span from `start` to `end`, in seconds of the engine's clock. `above` is the span it is a part of, None for the
    first of a trace; `span` is its own name, "" for any."""

    name: str
    kind: Literal["internal", "server", "client"]
    trace: str
    span: str
    above: TraceParent | None
    start: float
    end: float
    attributes: dict[str, Value]
    error: str = ""


@dataclass(slots=True)
class _Process:
    """A process that runs: `place` is its span, `above` the one that this is a part of. `told` are the tokens of passes
    that are yet to be reported."""

    launched: ProcessLaunched
    place: TraceParent
    above: TraceParent | None
    replies: dict[int, Reply] = field(default_factory=dict[int, Reply])
    told: dict[int, list[TokensComputed]] = field(default_factory=dict[int, list[TokensComputed]])


class _Request(msgspec.Struct):
    path: str = ""


class SpanFold:
    """Takes events in their order; `observe` answers the spans that end with one. Of a trace that its beginner does not
    record there are none."""

    def __init__(self, model: str = "") -> None:
        self._model = model
        self._processes: dict[str, _Process] = {}

    def observe(self, event: Event) -> Iterator[Finished]:
        match event:
            case EngineStarted(model=model):
                self._model = model
            case ProcessLaunched():
                self._launch(event)
            case ProcessReturned() | ProcessFailed():
                yield from self._end(event)
            case PassCompleted() | TokensComputed() | ContextReleased() | McpCalled() | HttpFetched():
                process = self._processes.get(event.process)
                if process is not None and process.place.sampled:
                    yield from self._within(process, event)
            case _:
                pass

    def _launch(self, event: ProcessLaunched) -> None:
        parent = self._processes.get(event.parent)
        above = parse_traceparent(event.traceparent) if parent is None else parent.place
        self._processes[event.process] = _Process(event, trace_of(event.process, above), above)

    def _within(
        self, process: _Process, event: PassCompleted | TokensComputed | ContextReleased | McpCalled | HttpFetched
    ) -> Iterator[Finished]:
        match event:
            case PassCompleted(context=context):
                reply = process.replies.setdefault(context, Reply())
                if reply.is_over(event):
                    yield from self._reply(process, context)
                    reply = process.replies.setdefault(context, Reply())
                for tokens in process.told.pop(context, ()):
                    reply.read(tokens)
                reply.take(event)
                if reply.finish:
                    yield from self._reply(process, context)
            case TokensComputed(context=context):
                process.told.setdefault(context, []).append(event)
            case ContextReleased(context=context):
                yield from self._reply(process, context)
            case McpCalled():
                yield _called(process.place, event)
            case HttpFetched():
                yield _fetched(process.place, event)

    def _reply(self, process: _Process, context: int) -> Iterator[Finished]:
        reply = process.replies.pop(context, None)
        if reply is None or not reply.drawn:
            return
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.request.model": self._model,
            "gen_ai.response.model": self._model,
            "pie.context": context,
            **reply.attributes(),
        }
        place = process.place
        yield Finished(f"chat {self._model}", "internal", place.trace, "", place, reply.start, reply.end, attributes)

    def _end(self, event: ProcessReturned | ProcessFailed) -> Iterator[Finished]:
        process = self._processes.pop(event.process, None)
        if process is None or not process.place.sampled:
            return
        for context in list(process.replies):
            yield from self._reply(process, context)
        launched, status = process.launched, event.status if isinstance(event, ProcessReturned) else 0
        name, _, version = launched.program.partition("@")
        attributes: dict[str, Value] = {"pie.process.id": launched.process, "user.name": launched.username}
        path = _path(launched) if name == REQUESTS else ""
        if path:
            attributes |= {"url.path": path, **({"http.response.status_code": status} if status else {})}
        else:
            attributes |= {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": PROVIDER,
                "gen_ai.agent.name": name,
                "gen_ai.agent.version": version,
                "gen_ai.request.model": self._model,
            }
        error = event.error_type if isinstance(event, ProcessFailed) else str(status) if status >= 500 else ""
        yield Finished(
            path or f"invoke_agent {name}",
            "server" if path else "internal",
            process.place.trace,
            process.place.span,
            process.above,
            launched.at_seconds if not launched.asked_seconds else launched.asked_seconds,
            event.at_seconds,
            attributes,
            error,
        )


def _called(place: TraceParent, event: McpCalled) -> Finished:
    """A request to an MCP server; a call of a tool is the execution of one too."""
    attributes: dict[str, Value] = {"mcp.method.name": event.method, "pie.mcp.server": event.server}
    if event.method == CALL_TOOL:
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": event.tool}
    start, end = event.at_seconds - event.duration_seconds, event.at_seconds
    name = f"{event.method} {event.tool}".rstrip()
    return Finished(
        name, "client", place.trace, event.span, place, start, end, attributes, TOOL_ERROR if event.error else ""
    )


def _fetched(place: TraceParent, event: HttpFetched) -> Finished:
    method = event.request.partition(" ")[0] or "CONNECT"
    attributes: dict[str, Value] = {
        "http.request.method": method,
        "server.address": event.host,
        "server.port": event.port,
    }
    start, error = event.at_seconds - event.duration_seconds, "proxy" if event.error else ""
    return Finished(method, "client", place.trace, "", place, start, event.at_seconds, attributes, error)


def _path(event: ProcessLaunched) -> str:
    try:
        return msgspec.json.decode(event.input, type=_Request).path
    except msgspec.DecodeError:
        return ""
