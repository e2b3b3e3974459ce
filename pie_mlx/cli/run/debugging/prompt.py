"""Python's debugger on the terminal of this command."""

import os
import pdb
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any


class TerminalDebugger(pdb.Pdb):
    """Keeps its breakpoints from one `breakpoint()` to the next. Quitting it calls `on_quit` first."""

    def __init__(self, on_quit: Callable[[], None]) -> None:
        super().__init__(nosigint=True)
        self.is_asking = False
        self._on_quit = on_quit

    def cmdloop(self, intro: Any = None) -> None:
        self.is_asking = True
        try:
            super().cmdloop(intro)
        finally:
            self.is_asking = False

    def do_quit(self, arg: str) -> bool | None:
        """q(uit): end the program."""
        self._on_quit()
        return super().do_quit(arg)

    do_q = do_exit = do_EOF = do_quit  # noqa: N815 - names of the base class

    def on_breakpoint(self, *arguments: Any, **options: Any) -> None:
        """Called by `breakpoint()`."""
        del arguments, options
        self.set_trace(sys._getframe().f_back)  # pyright: ignore[reportPrivateUsage]


@contextmanager
def breakpoints_for(debugger: TerminalDebugger) -> Generator[None]:
    """Let `breakpoint()` stop in `debugger`, unless the user or an editor has chosen another one."""
    before = sys.breakpointhook
    if before is sys.__breakpointhook__ and "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = debugger.on_breakpoint
    try:
        yield
    finally:
        sys.breakpointhook = before
