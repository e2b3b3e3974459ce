"""A walk over any text that lets thoughts take no more than so many tokens: then only their end can be written."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pie_mlx.calls import ThoughtLimit
from pie_mlx.engine.text.grammar.base import Freedom, Walk
from pie_mlx.engine.text.grammar.masks import PackedMask, pack_tokens
from pie_mlx.engine.text.grammar.thought import Letters
from pie_mlx.errors import GrammarError

ENDLESS = 1 << 31
LONGEST_DELIMITER = 1024
"""In characters: every token of the vocabulary is looked for in it."""


class Limit:
    """A `ThoughtLimit` in the letters of a vocabulary, and the masks it takes. May be shared between threads."""

    def __init__(
        self, limit: ThoughtLimit, tokens: Mapping[int, bytes], vocabulary_size: int, marks: Collection[int]
    ) -> None:
        if not max(map(len, (limit.opening, limit.closing, limit.again))) <= LONGEST_DELIMITER:
            raise GrammarError(
                f"thought: a delimiter of more than {LONGEST_DELIMITER} characters",
                hint="name what the template writes",
            )
        self.tokens = limit.tokens
        self.letters = Letters(tokens, marks)
        self.opening, self.closing = self.letters.spell(limit.opening), self.letters.spell(limit.closing)
        self.again = self.letters.spell(limit.again) or self.closing
        if not self.opening or not self.closing:
            raise GrammarError(
                "thought: it has no opening or no closing", hint="name both, as the model's template writes them"
            )
        self.begins_open = limit.is_open
        self._vocabulary_size = vocabulary_size
        self.free = self.mask([token for token in tokens if token < vocabulary_size])
        self._writing = self._tokens_within((self.closing, self.again), tokens)
        self.last_of_opening = frozenset(token for token in marks if self.letters.of(token) == self.opening[-1])
        self.longest = max(map(len, (self.opening, self.closing, self.again)))
        for end in (self.closing, self.again):
            if not all(self._writing[letter] for letter in end) and not self._writing[end]:
                raise GrammarError(
                    f"thought: the model has no tokens for {limit.closing + limit.again!r}",
                    hint="give a closing that it can write",
                )

    def rest(self, end: str, text: str) -> str:
        """What is to be written after `text`, so that `end` is there: all of it where it is one token, as the model
        knows it; else what `text` does not have of it yet."""
        begun = 0 if self._writing[end] else len(end) - 1
        return end[next(count for count in range(begun, -1, -1) if text.endswith(end[:count])) :]

    def next_of(self, rest: str) -> list[int]:
        """The tokens that write as much as any does of `rest`, and nothing else."""
        longest = (self._writing[rest[:end]] for end in range(len(rest), 0, -1))
        return next(filter(None, longest), list[int]())

    def mask(self, tokens: list[int]) -> PackedMask:
        """It allows these tokens."""
        return pack_tokens(tokens, self._vocabulary_size)

    def _tokens_within(self, ends: Sequence[str], tokens: Mapping[int, bytes]) -> defaultdict[str, list[int]]:
        found = defaultdict[str, list[int]](list)
        for token in tokens:
            letters = self.letters.of(token)
            if letters and token < self._vocabulary_size and any(letters in end for end in ends):
                found[letters].append(token)
        return found


class _State(NamedTuple):
    """`text` are the last letters since the thought opened or closed, `spent` the tokens of all thoughts so far, and
    `closed` how many ended at the limit."""

    is_open: bool
    text: str = ""
    spent: int = 0
    closed: int = 0


class LimitedWalk(Walk):
    """Thoughts may open again and again; the limit is for all of them together. Stop tokens are tokens like others."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._states = [_State(limit.begins_open)]

    def mask(self) -> PackedMask:
        due = self._due(self._states[-1])
        return self._limit.free if due is None else self._limit.mask(due)

    @property
    def freedom(self) -> Freedom:
        """Outside a thought, up to the token that would open one, where there is one."""
        state, limit = self._states[-1], self._limit
        if limit.last_of_opening and not state.is_open:
            return Freedom(ENDLESS, limit.last_of_opening)
        return Freedom(max(0, limit.tokens - state.spent))

    def push(self, tokens: Sequence[int]) -> int:
        for count, token in enumerate(tokens):
            due = self._due(self._states[-1])
            if due is not None and token not in due:
                return count
            self._states.append(self._after(self._states[-1], self._limit.letters.of(token)))
        return len(tokens)

    def pop(self, count: int) -> None:
        if count:
            del self._states[-count:]

    def fork(self) -> Walk:
        copy = LimitedWalk(self._limit)
        copy._states = list(self._states)
        return copy

    @property
    def is_complete(self) -> bool:
        return not self._is_due(self._states[-1])

    @property
    def is_exhausted(self) -> bool:
        return False

    def _is_due(self, state: _State) -> bool:
        return state.is_open and state.spent >= self._limit.tokens

    def _end(self, state: _State) -> str:
        return self._limit.again if state.closed else self._limit.closing

    def _due(self, state: _State) -> list[int] | None:
        """The only tokens that are allowed at the limit; None before."""
        limit = self._limit
        return limit.next_of(limit.rest(self._end(state), state.text)) if self._is_due(state) else None

    def _after(self, state: _State, letters: str) -> _State:
        due = self._is_due(state)
        text, spent = state.text + letters, state.spent + (state.is_open and not due)
        end = self._end(state) if due else self._limit.closing
        _, mark, after = text.partition(end if state.is_open else self._limit.opening)
        if not mark:
            return _State(state.is_open, text[-self._limit.longest :], spent, state.closed)
        return _State(not state.is_open, after, spent, state.closed + due)
