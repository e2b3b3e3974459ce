"""The engines that a user's keys have logged in to, with the public keys of these engines."""

import base64
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pie_mlx.errors import AuthError, EngineKeyError

FILE_NAME = "known_engines"


def address_of(url: str) -> str:
    """`host:port` of an engine's URL."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "wss" else 80)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass(frozen=True, slots=True)
class KnownEngines:
    """A file with a line for each engine: its address, and its public key in base64."""

    file: Path

    @classmethod
    def beside(cls, key_file: Path) -> "KnownEngines":
        """The engines that the keys in this folder have logged in to."""
        return cls(key_file.expanduser().parent / FILE_NAME)

    def check(self, url: str, key: bytes) -> None:
        """Record the engine at a new address.

        Raises EngineKeyError where another engine was at this address, or this engine at another address: one of them
        may be passing the login on to the other.
        """
        address, known = address_of(url), self._read()
        trust = f"'pie auth trust {url} --in {shlex.quote(str(self.file))}'"
        if address in known and known[address] != key:
            raise EngineKeyError(
                f"the engine at {address} is not the one that was there before: its key has changed",
                hint=f"if you know why, {trust}",
            )
        if address not in known and key in known.values():
            other = next(place for place, theirs in known.items() if theirs == key)
            raise EngineKeyError(
                f"the server at {address} has the key of the engine at {other}: it may pass your login on to it",
                hint=f"if it is a tunnel to that engine, or another name of it, {trust}",
            )
        if address not in known:
            self.trust(url, key)

    def knows(self, url: str) -> bool:
        """Whether the key of the engine at this address is recorded. Raises AuthError."""
        return address_of(url) in self._read()

    def trust(self, url: str, key: bytes) -> None:
        """Record that the engine at this address has that key. Raises AuthError."""
        line = f"{address_of(url)} {base64.b64encode(key).decode()}\n"
        try:
            with os.fdopen(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as out:
                out.write(line)
        except OSError as error:
            raise AuthError(f"{self.file}: {error.strerror}", hint="known engines are recorded there") from None

    def _read(self) -> dict[str, bytes]:
        """The keys by address; the last line of an address counts. Raises AuthError."""
        try:
            lines = self.file.read_text().splitlines()
            pairs = [line.split() for line in lines if line.strip()]
            return {address: base64.b64decode(key, validate=True) for address, key in pairs}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise AuthError(f"{self.file}: {error}", hint="a line is HOST:PORT and a key in base64") from None
