"""The log lines of events."""

from typing import NamedTuple

from pie_mlx.events import (
    AccountLeft,
    ContextRestored,
    ContextSuspended,
    DiskCacheChanged,
    EngineStarted,
    Event,
    McpCalled,
    McpServerStarted,
    McpServerStopped,
    MemoryChanged,
    ModelChanged,
    PagesDropped,
    PagesLoaded,
    PagesSpilled,
    PagesStored,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessOutput,
    ProcessQueued,
    ProcessReturned,
    SnapshotStored,
    SpillChanged,
    WaitChanged,
    told_message,
)
from pie_mlx.plural import plural
from pie_mlx.tui.model.state import Level


class LogEntry(NamedTuple):
    """`context` names the process if `process` is empty; `own` if the program wrote it."""

    level: Level
    text: str
    process: str = ""
    context: int = 0
    own: bool = False


def log_entry(event: Event) -> LogEntry | None:
    """The log entry of an event; None for frequent events."""
    match event:
        case ProcessLaunched(process=process, username=user, program=program):
            return LogEntry("info", f"launched {program} for {user}", process)
        case ProcessQueued(process=process, username=user, program=program, reason=reason):
            return LogEntry("info", f"{program} for {user} {reason}", process)
        case ProcessReturned(process=process, value=value):
            return LogEntry("info", f"returned {_one_line(value)}" if value else "returned", process)
        case ProcessFailed(process=process, error_type=kind, message=message):
            return LogEntry("error", f"{kind}: {_one_line(told_message(kind, message))}", process)
        case ProcessOutput(process=process, stream=stream, text=text):
            return LogEntry("warning" if stream == "stderr" else "info", _last_line(text), process, own=True)
        case ProcessFile(process=process, name=name, size_bytes=size):
            return LogEntry("info", f"sent file {name or '(unnamed)'}, {plural(size, 'byte')}", process, own=True)
        case _:
            return _engine_entry(event)


def _engine_entry(event: Event) -> LogEntry | None:
    match event:
        case EngineStarted(model=model, policy=policy, total_pages=total, page_size=size):
            return LogEntry(
                "info", f"started {model}: {plural(total, 'page')} of {plural(size, 'token')}, policy {policy}"
            )
        case ModelChanged(model=model, state=state, text=text):
            return LogEntry("error" if state == "failed" else "info", f"model {model} {state}{text and f': {text}'}")
        case ContextSuspended(context=context, for_context=other, text=text):
            target = "" if other == context else f" for context {other}"
            return LogEntry("debug", f"context {context}{target} {text}", context=context)
        case ContextRestored(context=context, replayed_tokens=tokens, read_pages=pages):
            how = f"{plural(tokens, 'token')} computed again, {plural(pages, 'page')} read"
            return LogEntry("debug", f"context {context} restored: {how}", context=context)
        case WaitChanged(context=context, reason=reason, text=text) if reason:
            return LogEntry("debug", f"context {context} {text}", context=context)
        case PagesSpilled(pages=pages, stored_pages=stored):
            return LogEntry("debug", f"wrote {plural(pages, 'page')} to the spill file, which holds {stored}")
        case SpillChanged(state=state, text=text):
            return LogEntry("info" if state == "ready" else "error", f"spill file {state}: {text}")
        case PagesStored(pages=pages):
            return LogEntry("debug", f"wrote {plural(pages, 'page')} to the disk cache")
        case PagesDropped(pages=pages):
            return LogEntry("debug", f"{plural(pages, 'page was', 'pages were')} not written to the disk cache")
        case PagesLoaded(pages=pages, seconds=seconds):
            return LogEntry("debug", f"read {plural(pages, 'page')} from the disk cache in {seconds * 1e3:.0f} ms")
        case SnapshotStored(context=context, name=name, pages=pages, stored_pages=stored):
            how = f"snapshot {name!r}: {stored} of {plural(pages, 'page')} on disk"
            return LogEntry("debug" if stored == pages else "warning", how, context=context)
        case DiskCacheChanged(state=state, text=text):
            return LogEntry("info" if state == "ready" else "error", f"disk cache {state}: {text}")
        case MemoryChanged(level=level, text=text):
            return LogEntry("info" if level == "normal" else "warning", f"memory {level}: {text}")
        case McpServerStarted(server=server, start=start):
            return LogEntry("info", f"MCP server {server} connected" + (f" again ({start})" if start > 1 else ""))
        case McpServerStopped(server=server, reason=reason):
            return LogEntry("error", f"MCP server {server} stopped: {_one_line(reason)}")
        case McpCalled(process=process, server=server, method=method, error=error, tool=tool):
            called = f"{method} {tool}".rstrip()
            how = f": {_one_line(error)}" if error else ""
            return LogEntry("warning" if error else "debug", f"called {called} of MCP server {server}{how}", process)
        case AccountLeft(account=account, balance=balance):
            return LogEntry("debug", f"account {account} left with {balance:.2f} credits")
        case _:
            return None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:400]


def _last_line(text: str) -> str:
    """The last line; of a traceback it names the error."""
    return next((line.strip()[:400] for line in reversed(text.splitlines()) if line.strip()), "")
