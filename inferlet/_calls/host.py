"""The engine this code runs beside."""

import gc
import sys
import threading
from collections import deque
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from inferlet._calls.compiled_grammars import CompiledGrammars
from pie_mlx.calls import Call, CompileGrammar, Host, MatcherState
from pie_mlx.errors import EngineStoppedError

T = TypeVar("T")


class _CollectorWatch:
    """Knows whether the garbage collector is running, in any thread."""

    def __init__(self) -> None:
        self.collecting = False
        gc.callbacks.append(self._observe)

    def _observe(self, phase: str, info: dict[str, int]) -> None:
        del info
        self.collecting = phase == "start"


_watch = _CollectorWatch()


class HostLink:
    """A host as SDK objects hold it: the same three methods, and `drop`, which finalizers can call safely.

    A finalizer may run inside the host's own code (when the garbage collector runs there) or in a thread of the engine
    (which holds the exceptions it answered with, and so their frames). That code is not reentrant, so such releases are
    queued and sent before the next message. `return_value` is what the program returns if its main returns None.
    """

    def __init__(self, host: Host) -> None:
        self.return_value: object = None
        self._grammars = CompiledGrammars()
        self._host = host
        self._dropped: deque[Call[None]] = deque()
        self._thread = threading.get_ident()

    def call(self, message: Call[T]) -> T:
        """Send a message and block for its reply. Raises the engine's PieError."""
        self._enter()
        return self._host.call(message)

    def submit(self, message: Call[T]) -> Coroutine[Any, Any, T]:
        """Send a message and await its reply. Raises the engine's PieError."""
        self._enter()
        return self._host.submit(message)

    def post(self, message: Call[Any]) -> None:
        """Send a message without waiting for a reply. It arrives before all later messages."""
        self._enter()
        self._host.post(message)

    def compile(self, message: CompileGrammar) -> MatcherState | None:
        """A fresh matcher; None when the model has no enforceable native tool format (D7). Raises GrammarError."""
        return self._grammars.matcher(self, message)

    def drop(self, message: Call[None]) -> None:
        """Release something from a finalizer: posted now where that is safe, else before the next message."""
        if sys.is_finalizing():
            return
        if _watch.collecting or threading.get_ident() != self._thread:
            self._dropped.append(message)
        else:
            self._host.post(message)

    def _enter(self) -> None:
        self._thread = threading.get_ident()
        while self._dropped:
            self._host.post(self._dropped.popleft())


_current: ContextVar[HostLink] = ContextVar("pie_mlx_host")
_adopted: HostLink | None = None


@contextmanager
def use_host(host: Host) -> Generator[HostLink]:
    """Make `host` the engine of the code inside; asyncio tasks started there inherit it."""
    link = HostLink(host)
    token = _current.set(link)
    try:
        yield link
    finally:
        _current.reset(token)


def adopt_host(host: Host | None) -> None:
    """Make `host` the engine of all code that runs in no inferlet, whatever its thread: the cells of a notebook."""
    global _adopted
    _adopted = None if host is None else HostLink(host)


def current_host() -> HostLink:
    """The engine of the running inferlet. Raises EngineStoppedError outside of one."""
    link = _current.get(_adopted)
    if link is None:
        error = EngineStoppedError(
            "no engine: this code does not run inside an inferlet",
            hint=f"run it with `pie run {_running_file()}`, `engine.run(main)` or `pie_mlx.run(main)`; "
            "a program starts threads with asyncio.to_thread, or with contextvars.copy_context().run as their target",
        )
        error.add_note(f"try: {error.hint}")  # plain Python prints no hints
        raise error
    return link


def _running_file() -> str:
    """The file that plain Python runs, as it was named."""
    return getattr(sys.modules["__main__"], "__file__", None) or "FILE.py"
