"""Everyday tools: names, parameters, ways to ask and shapes of results, from which tool conversations are composed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tools.tiny.text import words
from tools.tiny.text.source import Source

Spoken = tuple[str, Any]
Maker = Callable[[Source], Spoken]


@dataclass(frozen=True)
class Field:
    """A parameter: possible names, JSON type, maker of (spoken form, value), closed choices if any."""

    names: tuple[str, ...]
    type: str
    make: Maker
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A key of the result: possible names, maker of its value, and how the answer says it."""

    names: tuple[str, ...]
    make: Callable[[Source], Any]
    said: str


@dataclass(frozen=True)
class Concept:
    """A tool that people know: asked for in several ways, answered in one."""

    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    fields: tuple[Field, ...]
    asks: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    answer: str


def text(make: Callable[[Source], str]) -> Maker:
    """A string spoken as it is written."""

    def spoken(source: Source) -> Spoken:
        value = make(source)
        return value, value

    return spoken


def number(low: int, high: int) -> Maker:
    def spoken(source: Source) -> Spoken:
        value = source.integer(low, high)
        return str(value), value

    return spoken


def decimal(low: int, high: int) -> Maker:
    def spoken(source: Source) -> Spoken:
        value = source.integer(low, high)
        fraction = source.integer(0, 9)
        return (f"{value}.{fraction}", float(f"{value}.{fraction}")) if source.chance(0.5) else (str(value), value)

    return spoken


def choice(*options: str) -> Maker:
    return text(lambda source: source.any(options))


def switch(on: str, off: str) -> Maker:
    def spoken(source: Source) -> Spoken:
        value = source.chance(0.5)
        return (on if value else off), value

    return spoken


def listing(make: Callable[[Source], str]) -> Maker:
    def spoken(source: Source) -> Spoken:
        items = list(dict.fromkeys(make(source) for _ in range(source.integer(2, 4))))
        return words.joined(items), items

    return spoken


def pick(options: tuple[str, ...]) -> Callable[[Source], str]:
    return lambda source: words.called(source, options)


def amount(low: int, high: int) -> Callable[[Source], Any]:
    return lambda source: source.integer(low, high)


def price(source: Source) -> Any:
    return (
        source.integer(1, 999) if source.chance(0.5) else float(f"{source.integer(1, 99)}.{source.integer(0, 99):02d}")
    )
