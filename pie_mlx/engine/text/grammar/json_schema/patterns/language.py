"""The texts that fit patterns."""

import itertools
from functools import cached_property
from typing import Self

from pie_mlx.engine.text.grammar.json_schema.patterns import states
from pie_mlx.engine.text.grammar.json_schema.patterns.automaton import Automaton
from pie_mlx.engine.text.grammar.json_schema.patterns.letters import Letters
from pie_mlx.engine.text.grammar.json_schema.patterns.states import State
from pie_mlx.engine.text.grammar.json_schema.patterns.syntax import (
    Ahead,
    Choice,
    Edge,
    Letter,
    Node,
    Repeat,
    Sequence,
    read_pattern,
)


class Language:
    """A set of texts. Methods raise UnknownPatternError for one that has no small automaton."""

    def __init__(self, state: State, letters: frozenset[Letters]) -> None:
        self._state, self._letters = state, letters

    @classmethod
    def of(cls, pattern: str) -> Self:
        """The texts in which a pattern is found. Raises UnknownPatternError for one that is not read here."""
        return cls._of(read_pattern(pattern))

    @classmethod
    def factors(cls, pattern: str) -> list[Self]:
        """Languages of which it has the texts that are in all: one for each look-ahead at its beginning, and one for
        the rest. Their automata are smaller than that of all together."""
        node, begin = read_pattern(pattern), Edge(begins=True)
        if not isinstance(node, Sequence) or node.parts[:1] != (begin,):
            return [cls._of(node)]
        ahead = list(itertools.takewhile(lambda part: isinstance(part, Ahead), node.parts[1:]))
        rests = [*((part,) for part in ahead), node.parts[1 + len(ahead) :]]
        return [cls._of(Sequence((begin, *rest))) for rest in rests]

    @classmethod
    def _of(cls, node: Node) -> Self:
        return cls(states.searched(node), frozenset(_letters(node)))

    def __and__(self, other: "Language") -> "Language":
        return Language(states.together(self._state, other._state), self._letters | other._letters)

    def __invert__(self) -> "Language":
        return Language(states.outside(self._state), self._letters)

    def has(self, text: str) -> bool:
        """Whether a text is one of them."""
        state = self._state
        for letter in text:
            state = states.after(state, ord(letter))
        return states.may_end(state)

    @cached_property
    def _automaton(self) -> Automaton:
        return Automaton.of(self._state, self._letters)

    @property
    def is_empty(self) -> bool:
        return self._automaton.is_empty

    def pattern(self) -> str:
        """A pattern without look-around that whole texts fit. Raises UnknownPatternError where there are none."""
        return self._automaton.pattern()


def _letters(node: Node) -> "itertools.chain[Letters] | tuple[Letters, ...]":
    match node:
        case Letter(letters):
            return (letters,)
        case Sequence(parts) | Choice(parts):
            return itertools.chain.from_iterable(map(_letters, parts))
        case Repeat(part) | Ahead(part):
            return _letters(part)
        case _:
            return ()
