"""What is left of a text to be in a language, as alternatives of what must and must not hold of the rest."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pie_mlx.engine.text.grammar.json_schema.patterns.letters import ALL, Letters, has
from pie_mlx.engine.text.grammar.json_schema.patterns.syntax import (
    Ahead,
    Choice,
    Edge,
    Letter,
    Node,
    Repeat,
    Sequence,
    UnknownPatternError,
)

MOST_ALTERNATIVES = 200


@dataclass(frozen=True, slots=True)
class End:
    """No rest."""


@dataclass(frozen=True, slots=True)
class Step:
    """One of some characters, and then a rest."""

    letters: Letters
    then: "State"


@dataclass(frozen=True, slots=True)
class Loop:
    """A part any number of times, and then a rest."""

    part: Node
    then: "State"


Rest = End | Step | Loop
State = frozenset[frozenset[tuple[Rest, bool]]]
"""Alternatives. In each, every rest must fit, or must not."""

Place = Literal["start", "inside", "unknown"]
"""Where in the text a part begins."""

NOTHING: State = frozenset()
EVERYTHING: State = frozenset([frozenset()])
AT_END: State = frozenset([frozenset([(End(), True)])])


def either(*states: State) -> State:
    """What fits one of several."""
    found = frozenset[frozenset[tuple[Rest, bool]]]().union(*states)
    if len(found) > MOST_ALTERNATIVES:
        raise UnknownPatternError
    return frozenset(one for one in found if not any(other < one for other in found))


def together(one: State, other: State) -> State:
    """What fits both."""
    if len(one) * len(other) > MOST_ALTERNATIVES**2:
        raise UnknownPatternError
    joined = (first | second for first in one for second in other)
    return either(frozenset(each for each in joined if not any((rest, not fits) in each for rest, fits in each)))


def outside(state: State) -> State:
    """What does not fit."""
    found = EVERYTHING
    for alternative in state:
        found = together(found, frozenset(frozenset([(rest, not fits)]) for rest, fits in alternative))
    return found


def searched(node: Node) -> State:
    """The texts in which a pattern is found."""
    later = _then(node, EVERYTHING, "inside")
    anywhere = _only(Step(ALL, _only(Loop(Letter(ALL), later)))) if later else NOTHING
    return either(_then(node, EVERYTHING, "start"), anywhere)


def _only(rest: Rest) -> State:
    return frozenset([frozenset([(rest, True)])])


def _then(node: Node, then: State, place: Place) -> State:
    """A part, which begins at a place, and then a rest."""
    match node:
        case Letter(letters):
            return _only(Step(letters, then)) if letters and then else NOTHING
        case Sequence(parts):
            for part, begins in reversed(list(zip(parts, _places(parts, place), strict=True))):
                then = _then(part, then, begins)
            return then
        case Choice(parts):
            return either(*(_then(part, then, place) for part in parts))
        case Repeat():
            return _repeated(node, then, place)
        case Ahead(part, refused):
            ahead = _then(part, EVERYTHING, place)
            return together(outside(ahead) if refused else ahead, then)
        case Edge(begins):
            if begins and place == "unknown":
                raise UnknownPatternError
            return (then if place == "start" else NOTHING) if begins else together(AT_END, then)


def _places(parts: tuple[Node, ...], place: Place) -> Iterator[Place]:
    for part in parts:
        yield place
        if isinstance(part, Letter):
            place = "inside"
        elif not isinstance(part, Ahead | Edge):
            place = _later(place)


def _later(place: Place) -> Place:
    return "inside" if place == "inside" else "unknown"


def _repeated(node: Repeat, then: State, place: Place) -> State:
    later = place if node.most == 1 else _later(place)
    if node.most is None:
        if place != "inside" and _looks_back(node.part):
            raise UnknownPatternError
        then = _only(Loop(node.part, then)) if then else NOTHING
    else:
        rest = then
        for _ in range(node.most - node.least):
            rest = either(then, _then(node.part, rest, later))
        then = rest
    for _ in range(node.least - 1):
        then = _then(node.part, then, later)
    return _then(node.part, then, place) if node.least else then


def _looks_back(node: Node) -> bool:
    match node:
        case Sequence(parts) | Choice(parts):
            return any(map(_looks_back, parts))
        case Repeat(part) | Ahead(part):
            return _looks_back(part)
        case Edge(begins):
            return begins
        case _:
            return False


def may_end(state: State) -> bool:
    """Whether no rest fits."""
    return any(all(_ends(rest) is fits for rest, fits in alternative) for alternative in state)


def _ends(rest: Rest) -> bool:
    return isinstance(rest, End) or (isinstance(rest, Loop) and may_end(rest.then))


def after(state: State, code: int) -> State:
    """What must fit the rest after a character."""
    return _after(state, code, frozenset())


def _after(state: State, code: int, within: frozenset[Loop]) -> State:
    found = NOTHING
    for alternative in state:
        left = EVERYTHING
        for rest, fits in alternative:
            one = _after_one(rest, code, within)
            left = together(left, one if fits else outside(one))
        found = either(found, left)
    return found


def _after_one(rest: Rest, code: int, within: frozenset[Loop]) -> State:
    match rest:
        case End():
            return NOTHING
        case Step(letters, then):
            return then if has(letters, code) else NOTHING
        case Loop(part, then):
            if rest in within:  # a part of no characters adds nothing
                return NOTHING
            once = _then(part, _only(rest), "inside")
            return either(_after(then, code, within), _after(once, code, within | {rest}))
