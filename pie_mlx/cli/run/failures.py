"""Report how a program failed."""

from typing import Protocol

from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.errors import FAILED, report
from pie_mlx.events import told_message


class Failure(Protocol):
    """An event or an outcome."""

    @property
    def error_type(self) -> str: ...

    @property
    def message(self) -> str: ...

    @property
    def hint(self) -> str: ...


def report_failed(what: str, failure: Failure, common: Common) -> int:
    """Print the reason, unless it was printed as a JSON event, and return the exit code."""
    if not common.json:
        hint = failure.hint or HINTS.get(failure.error_type, "")
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


def reason(failure: Failure) -> str:
    """The class and the message."""
    return f"{failure.error_type}: {told_message(failure.error_type, failure.message)}"
