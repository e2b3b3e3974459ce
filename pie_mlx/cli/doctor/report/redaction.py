"""Removes the user's identity, paths and secrets from a report."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

HIDDEN = "(hidden)"
SHORTEST_SECRET = 4
"""Shorter secrets stay: they also occur by chance in other text."""
_CREDENTIALS = re.compile(r"(?<=://)[^\s/@]+@")
_MAIL_ADDRESS = re.compile(r"\b[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}\b")


@dataclass(frozen=True, slots=True)
class Redaction:
    """What must not appear in a report: the home directory, the names of the account and the machine, and secrets."""

    home: Path
    user: str
    host: str
    secrets: frozenset[str] = frozenset()

    def redact(self, value: Any) -> Any:
        """The same data, with every text redacted."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {key: self.redact(each) for key, each in cast("Mapping[str, Any]", value).items()}
        if isinstance(value, list | tuple):
            return [self.redact(each) for each in cast("Iterable[Any]", value)]
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
