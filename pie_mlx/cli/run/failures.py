"""Report how a program failed."""

from pathlib import Path
from typing import Protocol

from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.errors import FAILED, report
from pie_mlx.errors import PieError
from pie_mlx.events import told_message


class Failure(Protocol):
    """An event or an outcome."""

    @property
    def error_type(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def hint(self) -> str: ...


def report_failed(what: str, failure: Failure, common: Common, path: Path | None = None) -> int:
    """Print the reason, unless it was printed as a JSON event, and return the exit code. `path` is the source of the
    program, where a mistake of its use of the SDK may be found."""
    if not common.json:
        hint = failure.hint or HINTS.get(failure.error_type, "")
        if path is not None and failure.error_type in _MISUSE:
            hint = _finding(path) or hint
        report(f"{what}: {reason(failure)}", hint, failure.error_type, common)
    return FAILED


_IMPORT = "'pie check' of its path lists the imports that fail, and why"
_FILE = "a program reads only its own package and /scratch (--allow-fs): pass the text of other files as input"
_NETWORK = "a program reaches no network without --allow-network"
_WALL = f"{_FILE}; it starts no processes, and reaches no network without --allow-network"

HINTS = {
    "ImportError": _IMPORT,
    "ModuleNotFoundError": _IMPORT,
    "FileNotFoundError": _FILE,
    "PermissionError": _WALL,
    # From socket, urllib, httpx and aiohttp; requests names its own like Python's.
    "gaierror": _NETWORK,
    "URLError": _NETWORK,
    "ConnectError": _NETWORK,
    "ClientConnectorError": _NETWORK,
    "ConnectionError": _NETWORK,
}
"""Hints for errors of other libraries, by class: their most likely cause."""


_MISUSE = frozenset({"AttributeError", "NameError", "TypeError"})
"""What Python raises for most mistakes in using the SDK, in its own words."""


def _finding(path: Path) -> str:
    """What 'pie check' finds first in a program; "" for nothing."""
    if path.suffix != ".py" and not path.is_dir():
        return ""
    from pie_mlx.runtime.program.program import find_program
    from pie_mlx.runtime.program.source_reading import findings_of

    try:
        program = find_program(path)
        found = findings_of(program.manifest, program.main_file, program.directory)
    except PieError:
        return ""
    return f"'pie check' says: {found[0]}" if found else ""


def reason(failure: Failure) -> str:
    """The class and the message."""
    return f"{failure.error_type}: {told_message(failure.error_type, failure.message)}"
