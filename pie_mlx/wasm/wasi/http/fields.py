"""Headers and trailers of `wasi:http/types`, and the variants that requests have."""

import re

from pie_mlx.wasm.binding.writers import WitError

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(rb"[^\0\r\n]*")
_OURS = frozenset(
    ("connection", "host", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade")
)
"""Headers that the connection needs for itself."""
METHODS = ("get", "head", "post", "put", "delete", "connect", "options", "trace", "patch")

Method = tuple[str, str | None]
Scheme = tuple[str, str | None]


class Fields:
    """Names with values; the names are in lower case. Those of what has arrived cannot be changed."""

    def __init__(self) -> None:
        self._pairs: list[tuple[str, bytes]] = []
        self._frozen = False

    @classmethod
    def from_list(cls, entries: list[tuple[str, bytes]]) -> "Fields":
        made = cls()
        for name, value in entries:
            made.append(name, value)
        return made

    def get(self, name: str) -> list[bytes]:
        return [value for known, value in self._pairs if known == name.lower()]

    def has(self, name: str) -> bool:
        return bool(self.get(name))

    def set(self, name: str, values: list[bytes]) -> None:
        self.delete(name)
        for value in values:
            self.append(name, value)

    def delete(self, name: str) -> None:
        self._check(name, b"")
        self._pairs = [(known, value) for known, value in self._pairs if known != name.lower()]

    def append(self, name: str, value: bytes) -> None:
        self._check(name, value)
        self._pairs.append((name.lower(), value))

    def entries(self) -> list[tuple[str, bytes]]:
        return list(self._pairs)

    def clone(self) -> "Fields":
        return _fields(self._pairs)

    def _check(self, name: str, value: bytes) -> None:
        if self._frozen:
            raise WitError("immutable")
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise WitError("invalid-syntax")
        if name.lower() in _OURS:
            raise WitError("forbidden")

    def _freeze(self) -> "Fields":
        self._frozen = True
        return self


def arrived(pairs: list[tuple[str, str]]) -> Fields:
    """The headers of a message that has arrived."""
    made = _fields([(name.lower(), value.encode("latin-1", "replace")) for name, value in pairs])
    return made._freeze()  # pyright: ignore[reportPrivateUsage]


def sent(fields: Fields) -> list[tuple[str, str]]:
    """Headers as they are sent."""
    return [(name, value.decode("latin-1")) for name, value in fields.entries()]


def as_method(word: str) -> Method:
    return (word.lower(), None) if word.lower() in METHODS else ("other", word)


def method_word(method: Method) -> str:
    name, other = method
    return (other or "") if name == "other" else name.upper()


def _fields(pairs: list[tuple[str, bytes]]) -> Fields:
    made = Fields()
    made._pairs = list(pairs)  # pyright: ignore[reportPrivateUsage]
    return made
