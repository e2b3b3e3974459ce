"""The line that shows what a command is waiting for."""

import contextlib
import sys
from collections.abc import Callable, Generator

from pie_mlx.cli.options import Common


@contextlib.contextmanager
def progress_line(common: Common) -> Generator[tuple[Callable[[str], None], Callable[[], None]]]:
    """A line on the terminal while something loads: yields a function that updates it, and one that removes it."""
    if common.quiet or common.json or not sys.stderr.isatty():
        yield _ignore, lambda: None
        return
    from rich.console import Console

    status = Console(stderr=True, no_color=common.no_color or None).status("starting")
    with status:
        yield status.update, status.stop


def _ignore(line: str) -> None:
    del line
