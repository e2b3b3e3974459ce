"""Automata of languages, and the patterns that they are written as."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from pie_mlx.engine.text.grammar.json_schema.patterns.letters import Letters, kinds, union, written
from pie_mlx.engine.text.grammar.json_schema.patterns.states import State, after, may_end
from pie_mlx.engine.text.grammar.json_schema.patterns.syntax import UnknownPatternError

MOST_STATES = 300
MOST_WAYS = 10_000
MOST_CHARACTERS = 20_000
_FIRST, _LAST = -1, -2

Ways = dict[int, dict[int, int]]


@dataclass(frozen=True, slots=True)
class Automaton:
    """States by number, the first is 0: the ways out of each by the kind of character, and where a text may end.
    States from which no text ends are left out."""

    letters: list[Letters]
    ways: Ways
    ends: frozenset[int]

    @classmethod
    def of(cls, start: State, sets: Iterable[Letters]) -> Self:
        """Raises UnknownPatternError for too many states."""
        letters = kinds(sets)
        numbers = {start: 0}
        ways: Ways = {}
        waiting = [start]
        while waiting:
            state = waiting.pop()
            mine = ways.setdefault(numbers[state], {})
            for kind, ranges in enumerate(letters):
                reached = after(state, ranges[0][0])
                if reached and reached not in numbers:
                    numbers[reached] = len(numbers)
                    waiting.append(reached)
                if reached:
                    mine[kind] = numbers[reached]
            if len(numbers) > MOST_STATES or len(numbers) * len(letters) > MOST_WAYS:
                raise UnknownPatternError
        ends = frozenset(number for state, number in numbers.items() if may_end(state))
        return cls(letters, *_merged(ways, ends))

    @property
    def is_empty(self) -> bool:
        return not self.ends

    def pattern(self) -> str:
        """A pattern that whole texts fit. Raises UnknownPatternError where there are none, or it is too long."""
        if self.is_empty:
            raise UnknownPatternError
        ways = {state: self._by_target(found) for state, found in self.ways.items()}
        for state in self.ends:
            ways[state][_LAST] = ""
        ways[_FIRST] = {0: ""}
        while len(ways) > 1:
            _leave_out(min(ways.keys() - {_FIRST}, key=lambda state: _cost(state, ways)), ways)
        return f"^{ways[_FIRST][_LAST]}$"

    def _by_target(self, found: dict[int, int]) -> dict[int, str]:
        targets: dict[int, list[Letters]] = {}
        for kind, target in found.items():
            targets.setdefault(target, []).append(self.letters[kind])
        return {target: written(union(*sets)) for target, sets in targets.items()}


def _merged(ways: Ways, ends: frozenset[int]) -> tuple[Ways, frozenset[int]]:
    """The same with one state for those after which the same texts end, and without those after which none does."""
    live = _live(ways, ends)
    kept = {state: {kind: to for kind, to in ways[state].items() if to in live} for state in sorted(live)}
    groups = {state: int(state in ends) for state in kept}
    while True:
        seen: dict[tuple[int, frozenset[tuple[int, int]]], int] = {}
        found = {
            state: seen.setdefault(
                (groups[state], frozenset((kind, groups[to]) for kind, to in out.items())), len(seen)
            )
            for state, out in kept.items()
        }
        if len(seen) == len({*groups.values()}):
            merged = {found[state]: {kind: found[to] for kind, to in out.items()} for state, out in kept.items()}
            return merged, frozenset(found[state] for state in ends)
        groups = found


def _live(ways: Ways, ends: frozenset[int]) -> set[int]:
    """The states after which a text may end."""
    live = set(ends)
    while more := {state for state, out in ways.items() if state not in live and not live.isdisjoint(out.values())}:
        live |= more
    return live


def _cost(state: int, ways: dict[int, dict[int, str]]) -> int:
    """The characters that come to be written when a state is left out."""
    into = [len(out[state]) for place, out in ways.items() if state in out and place != state]
    beyond = [len(text) for to, text in ways[state].items() if to != state]
    return len(beyond) * sum(into) + len(into) * (sum(beyond) + len(ways[state].get(state, "")))


def _leave_out(state: int, ways: dict[int, dict[int, str]]) -> None:
    out = ways.pop(state)
    around = out.pop(state, None)
    loop = "" if around is None else f"(?:{around})*"
    for found in ways.values():
        into = found.pop(state, None)
        for to, beyond in out.items() if into is not None else ():
            found[to] = _either(found.get(to), f"{into}{loop}{beyond}")
            if len(found[to]) > MOST_CHARACTERS:
                raise UnknownPatternError


def _either(one: str | None, other: str) -> str:
    if one is None or one == other:
        return other
    if not one or not other:
        return f"(?:{one or other})?"
    return f"(?:{one}|{other})"
