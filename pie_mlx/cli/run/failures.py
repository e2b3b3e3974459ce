"""How a program failed, as people are told."""

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
    """Say why, unless the last event has said it as JSON, and answer the exit code."""
    if not common.json:
        hint = failure.hint or HINTS.get(failure.error_type, "")
        report(f"{what}: {reason(failure)}", hint, failure.error_type, common)
    return FAILED


_IMPORT = "'pie check' of its path names what cannot be imported, and why"
_FILE = "of files a program sees its own package and /scratch (--allow-fs): give it the text of others as input"
_NETWORK = "a program reaches no network without --allow-network"
_WALL = f"{_FILE}; it starts no processes, and reaches no network without --allow-network"

HINTS = {
    "ImportError": _IMPORT,
    "ModuleNotFoundError": _IMPORT,
    "FileNotFoundError": _FILE,
    "PermissionError": _WALL,
    # Of socket, urllib, httpx and aiohttp; requests calls its own like Python's.
    "gaierror": _NETWORK,
    "URLError": _NETWORK,
    "ConnectError": _NETWORK,
    "ClientConnectorError": _NETWORK,
    "ConnectionError": _NETWORK,
}
"""For errors that are not ours and have none, by their class: what most probably brought them about."""


def reason(failure: Failure) -> str:
    """The class and the message."""
    return f"{failure.error_type}: {told_message(failure.error_type, failure.message)}"
