"""Takes out of a report who and where somebody is, and what only they know."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

HIDDEN = "(hidden)"
SHORTEST_SECRET = 4
"""Shorter texts stand in places where they mean something else."""
_CREDENTIALS = re.compile(r"(?<=://)[^\s/@]+@")
_MAIL_ADDRESS = re.compile(r"\b[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}\b")


@dataclass(frozen=True, slots=True)
class Person:
    """Whose machine it is: the home directory, the names of the account and of the machine, and secrets."""

    home: Path
    user: str
    host: str
    secrets: frozenset[str] = frozenset()

    def hide(self, value: Any) -> Any:
        """The same plain data, its texts without any of that."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {key: self.hide(each) for key, each in cast("Mapping[str, Any]", value).items()}
        if isinstance(value, list | tuple):
            return [self.hide(each) for each in cast("Iterable[Any]", value)]
        return value

    def _text(self, text: str) -> str:
        for secret in sorted(self.secrets, key=len, reverse=True):
            if len(secret) >= SHORTEST_SECRET:
                text = text.replace(secret, HIDDEN)
        text = _MAIL_ADDRESS.sub(HIDDEN, _CREDENTIALS.sub(f"{HIDDEN}@", text))
        if self.home != self.home.parent:
            text = text.replace(str(self.home), "~")
        for name, role in ((self.host, "HOST"), (self.user, "USER")):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", role, text) if name else text
        return text
