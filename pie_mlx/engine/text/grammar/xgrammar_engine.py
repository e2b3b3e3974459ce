"""Grammars on xgrammar: GBNF."""

import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from pie_mlx.engine.text.grammar import xgrammar_library
from pie_mlx.engine.text.grammar.base import Walk, no_token_fits
from pie_mlx.engine.text.grammar.deadline import Deadline
from pie_mlx.engine.text.grammar.masks import PackedMask
from pie_mlx.engine.text.grammar.views import token_texts
from pie_mlx.engine.text.tokenizer import Tokenizer
from pie_mlx.errors import GrammarError

_RAW, _BYTE_FALLBACK, _BYTE_LEVEL = 0, 1, 2
_COMPILE_SECONDS = 10.0
"""A long repetition takes minutes with a large vocabulary: a mask is prepared for each of its states."""
_COMPILING_AT_ONCE = 2
CACHE_BYTES = 64 << 20
"""What the library itself keeps of what it compiled: megabytes per grammar of a large vocabulary."""
_PLACE = re.compile(r"at line (\d+), column (\d+): (.*)", re.DOTALL)


class XgrammarWalk(Walk):
    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def fill(self, row: PackedMask) -> bool:
        restricts = bool(self._matcher.fill_next_token_bitmask(row.view(np.int32).reshape(1, -1), 0, False))
        if restricts and not np.count_nonzero(row):  # half the time of any()
            raise no_token_fits()
        return restricts

    @classmethod
    def fill_rows(cls, walks: Sequence[Walk], rows: PackedMask) -> Sequence[bool | None]:
        signed = rows.view(np.int32)
        matchers = [cast("XgrammarWalk", walk)._matcher for walk in walks]
        restricts = [bool(matcher.fill_next_token_bitmask(signed, row, False)) for row, matcher in enumerate(matchers)]
        fits = np.any(rows, axis=1)
        return [None if some and not fits[row] else some for row, some in enumerate(restricts)]

    def push(self, tokens: Sequence[int]) -> int:
        for taken, token in enumerate(tokens):
            if not self._matcher.accept_token(token, False):
                return taken
        return len(tokens)

    def pop(self, count: int) -> None:
        if count:
            self._matcher.rollback(count)

    def fork(self) -> "XgrammarWalk":
        return XgrammarWalk(self._matcher.fork())

    @property
    def is_complete(self) -> bool:
        return bool(self._matcher.is_completed())

    @property
    def is_exhausted(self) -> bool:
        return bool(self._matcher.is_terminated())


class XgrammarEngine:
    """Compiles users' grammars for one tokenizer and one stop set. `compile_gbnf` gives None after `compile_seconds`,
    raises GrammarError with line and column, and does not hold the interpreter lock meanwhile. Raises GrammarError
    where xgrammar is unavailable."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        vocabulary_size: int,
        stop_tokens: Sequence[int],
        compile_seconds: float = _COMPILE_SECONDS,
    ) -> None:
        self._deadline = Deadline(compile_seconds, _COMPILING_AT_ONCE)
        self._classes = xgrammar_library.load()
        vocabulary = tokenizer.bytes_by_id
        kind = _BYTE_LEVEL if vocabulary.is_byte_level else _BYTE_FALLBACK if vocabulary.has_byte_fallback else _RAW
        info = self._classes.TokenizerInfo(
            token_texts(tokenizer, vocabulary_size), kind, vocabulary_size, list(stop_tokens), False
        )
        self._compiler = self._classes.GrammarCompiler(info, 2, True, CACHE_BYTES)

    def compile_gbnf(self, source: str) -> Walk | None:
        """Text of the rule `root`."""
        try:
            compiled = self._deadline.run(lambda: self._compiler.compile_grammar_from_strings(source, "root"))
        except (RuntimeError, ValueError, TypeError) as error:
            raise GrammarError(_readable(str(error)), hint="correct the grammar") from error
        return None if compiled is None else XgrammarWalk(self._classes.GrammarMatcher(compiled, None, False, -1, None))


def _readable(message: str) -> str:
    """The engine's complaint without the place in its own sources."""
    found = _PLACE.search(message)
    if found:
        problem = found[3].strip().splitlines()[0]
        problem += " the end" if problem.endswith("but got") else ""
        return f"grammar: line {found[1]}, column {found[2]}: {problem}"
    return f"grammar: {message.strip().splitlines()[0] if message.strip() else 'refused'}"
