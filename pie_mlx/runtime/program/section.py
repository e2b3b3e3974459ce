"""One table of a TOML document, read strictly: keys that are not read are reported."""

from collections.abc import Mapping
from typing import TypeVar, cast

from pie_mlx.runtime.program.findings import SHOWN_CHARACTERS, nearest, show_value

Table = Mapping[str, object]
Default = TypeVar("Default")


class Section:
    """Reads keys of a table and appends mistakes to `findings`."""

    def __init__(self, title: str, table: Table, findings: list[str]) -> None:
        self.title = title
        self._table = table
        self._findings = findings
        self._asked: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def report(self, key: str, why: str) -> None:
        self._findings.append(f"[{self.title}] {key[:SHOWN_CHARACTERS]}: {why}")

    def value(self, key: str) -> object:
        """The raw value, None when it is absent."""
        self._asked.add(key)
        return self._table.get(key)

    def text(self, key: str, default: str = "") -> str:
        value = self.value(key)
        return value if isinstance(value, str) else self._wrong(key, "string", value, default)

    def flag(self, key: str, default: bool) -> bool:
        value = self.value(key)
        return value if isinstance(value, bool) else self._wrong(key, "bool", value, default)

    def number(self, key: str) -> float | None:
        value = self.value(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        return self._wrong(key, "number", value, None)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.value(key)
        texts = [item for item in _as_list(value) or () if isinstance(item, str)]
        return tuple(texts) if texts == value else self._wrong(key, "list of strings", value, ())

    def items(self, key: str) -> tuple[object, ...]:
        value = self.value(key)
        found = _as_list(value)
        return tuple(found) if found is not None else self._wrong(key, "list", value, ())

    def entries(self) -> Table:
        """All entries, for tables whose keys the author chooses."""
        self._asked.update(self._table)
        return self._table

    def child(self, name: str, table: Table) -> "Section":
        return Section(f"{self.title}.{name}", table, self._findings)

    def finish(self, *informative: str) -> None:
        """Report the keys that were not read, except the `informative` ones, which are known but unused here."""
        known = self._asked | set(informative)
        for key in self._table:
            if key not in known:
                self.report(key, f"unknown key{nearest(key, known)}")

    def _wrong(self, key: str, expected: str, value: object, default: Default) -> Default:
        if value is not None:
            self.report(key, f"expected {expected}, got {show_value(value)}")
        return default


def _as_list(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None
