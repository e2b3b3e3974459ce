"""Grammars on llguidance: JSON Schema, regular expressions and Lark.

It refuses what it cannot enforce, and its matcher never recovers from an error, so that tokens are only ever tried.
"""

import json
import os
from collections.abc import Mapping, Sequence
from ctypes import Array, addressof, c_uint32, sizeof
from functools import cache, cached_property
from typing import cast

import llguidance
import numpy as np

from pie_mlx.engine.text.grammar.base import Walk, no_token_fits
from pie_mlx.engine.text.grammar.cache import CompileCache
from pie_mlx.engine.text.grammar.json_schema.schema import Schema
from pie_mlx.engine.text.grammar.masks import PackedMask, words_for
from pie_mlx.engine.text.grammar.unique_items.places import Places, asks_for_unique_items, without_unique_items
from pie_mlx.engine.text.grammar.unique_items.spellings import TokenSpellings
from pie_mlx.engine.text.grammar.unique_items.walk import UniqueItemsWalk
from pie_mlx.engine.text.grammar.unique_items.written import Mode, Written
from pie_mlx.engine.text.grammar.views import View, hidden_tokens, tokenizer_json
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import GrammarError

WHITESPACE = r"\x20|\x0A\x20{0,32}|\x0A\x09{0,16}"
"""Between JSON tokens: one space, or one line break and its indentation. A weak model given more writes it for ever."""
_LIMITS = llguidance.LLParserLimits(max_items_in_row=20_000, step_max_items=200_000, verbose_errors=False)
"""Ten times the default rows: an object of a thousand optional properties needs that many."""
_SLICES = [r"[a-z]+", r"[a-z0-9]+", *llguidance.LLTokenizer.general_slices()]
"""Kinds of tokens that are allowed together where a text may be any of that kind. Words, with digits or without, are in
most patterns: with 150,000 tokens a mask inside of a name takes a fourteenth of the time."""

ONE_SPELLING = {"json_allowed_escapes": 'nrbtf\\"'}
"""Each character is written in one way where items are compared."""

_BYTES_OF_TEXT = [*range(0xC0), *range(0xC2, 0xF5)]
"""All that UTF-8 uses."""

_FEW = 4
"""Fewer masks than this are computed here: another thread would wake up later than that."""
_WORD = np.dtype(np.uint32)
THREADS = max(1, min(4, (os.cpu_count() or 1) // 2))
"""For the masks of many: half of the processors, the others compute the pass."""


@cache
def _executor() -> llguidance.LLExecutor:
    return llguidance.LLExecutor(num_threads=THREADS)


class LlguidanceWalk(Walk):
    """`memory` is where a mask is written: of an array of ctypes the address is found sooner than a mask is computed,
    of one of numpy later than most. `spellings` are the tokens of a vocabulary that cannot spell every text; None of
    one that can."""

    def __init__(
        self, matcher: llguidance.LLMatcher, memory: type[Array[c_uint32]], spellings: frozenset[bytes] | None = None
    ) -> None:
        self._matcher = matcher
        self._memory = memory
        self._spellings = spellings

    def mask(self) -> PackedMask:
        if self._spellings is not None and not _can_begin(self._matcher.compute_ff_bytes(), self._spellings):
            raise no_token_fits()  # the engine would allow every token
        memory = self._memory()
        self._matcher.unsafe_compute_mask_ptr(addressof(memory), sizeof(memory))
        self._check()
        return np.frombuffer(memory, _WORD)  # pyright: ignore

    @classmethod
    def masks(cls, walks: Sequence[Walk]) -> Sequence[PackedMask | GrammarError]:
        mine = cast("Sequence[LlguidanceWalk]", walks)
        if len(mine) < _FEW or THREADS == 1 or any(walk._spellings is not None for walk in mine):
            return super().masks(walks)
        rows = np.empty((len(mine), sizeof(mine[0]._memory) // _WORD.itemsize), _WORD)
        pairs = [(walk._matcher, place) for place, walk in enumerate(mine)]
        _executor().unsafe_compute_mask_ptr(pairs, rows.ctypes.data, rows.strides[0], len(rows))
        # Copies: a matcher that stays unmoved for long must not keep the rows of all.
        return [
            walk._refusal() if walk._matcher.is_error() else row.copy() for walk, row in zip(mine, rows, strict=True)
        ]

    def push(self, tokens: Sequence[int]) -> int:
        taken = 0 if self._matcher.is_stopped() else self._matcher.try_consume_tokens(list(tokens))
        if taken < len(tokens):
            self._check()
        return taken

    def pop(self, count: int) -> None:
        self._matcher.rollback(count)
        self._check()

    def fork(self) -> "LlguidanceWalk":
        return LlguidanceWalk(self._matcher.deep_copy(), self._memory, self._spellings)

    @property
    def forced_text(self) -> bytes:
        return self._matcher.compute_ff_bytes()

    @property
    def is_complete(self) -> bool:
        return self._matcher.is_accepting()

    @property
    def is_exhausted(self) -> bool:
        return self._matcher.is_stopped()

    def _check(self) -> None:
        if self._matcher.is_error():
            raise self._refusal()

    def _refusal(self) -> GrammarError:
        reason = self._matcher.get_error().partition("\n")[0]
        if reason.startswith("NoExtension"):
            return no_token_fits()
        return GrammarError(f"grammar: too complex: {reason}", hint="simplify the grammar or the schema")


def _can_begin(forced: bytes, spellings: frozenset[bytes]) -> bool:
    """Whether some token spells the beginning of what must follow."""
    if not forced or any(forced[:length] in spellings for length in range(1, len(forced) + 1)):
        return True
    return any(token.startswith(forced) for token in spellings)


def _spellings_of(tokenizer: Tokenizer) -> frozenset[bytes] | None:
    hidden = hidden_tokens(tokenizer, "user")
    found = frozenset(text for token, text in tokenizer.bytes_by_id.tokens.items() if token not in hidden)
    return None if all(bytes([byte]) in found for byte in _BYTES_OF_TEXT) else found


class LlguidanceEngine:
    """Compiles for one view of a tokenizer and one stop set. `compile_*` raise GrammarError with the engine's words,
    may take seconds, and do not hold the interpreter lock meanwhile. Raises GrammarError for a tokenizer whose tokens
    it cannot tell as bytes."""

    def __init__(self, tokenizer: Tokenizer, view: View, vocabulary_size: int, stop_tokens: Sequence[int]) -> None:
        try:
            self._tokenizer = llguidance.LLTokenizer(
                tokenizer_json(tokenizer, view),
                n_vocab=vocabulary_size,
                eos_token=list(stop_tokens),
                slices=_SLICES,
            )
        except ValueError as error:
            raise GrammarError(
                f"grammar: not possible with this model's tokenizer: {error}", hint="generate freely and parse"
            ) from error
        self._tokens, self._vocabulary_size = tokenizer.bytes_by_id.tokens, vocabulary_size
        self._memory = c_uint32 * words_for(vocabulary_size)
        # Tags of calls are forced as tokens, not as bytes.
        self._spellings = _spellings_of(tokenizer) if view == "user" else None

    def compile_schema(
        self, schema: Schema, *, lenient: bool = False, separators: tuple[str, str] | None = None
    ) -> tuple[Walk, list[str]]:
        """JSON of a schema, whose items differ where they must, and what of it is not enforced. The `separators` stand
        between items and after keys, where those alone are wanted."""
        plain, (items, keys) = without_unique_items(schema), separators or (",", ":")
        written = plain if plain == schema else {**plain, "x-guidance": ONE_SPELLING}
        matcher = self._start(
            llguidance.LLMatcher.grammar_from_json_schema(
                json.dumps(written),
                overrides={
                    "whitespace_pattern": WHITESPACE if separators is None else None,
                    "whitespace_flexible": separators is None,
                    "item_separator": items,
                    "key_separator": keys,
                    "lenient": lenient,
                    "coerce_one_of": lenient,
                },
            )
        )
        walk = self._walk(matcher)
        if plain != schema:
            walk = UniqueItemsWalk(walk, self._token_spellings, Written(root=Places(schema).root))
        return walk, matcher.get_grammar_warnings()

    @cached_property
    def _token_spellings(self) -> TokenSpellings:
        return TokenSpellings(self._tokens, self._vocabulary_size)

    def compile_regex(self, pattern: str) -> Walk:
        """Text that matches as a whole, in Rust's syntax."""
        return self._walk(self._start(llguidance.LLMatcher.grammar_from_regex(pattern)))

    def compile_lark(self, source: str) -> Walk:
        """Text of the rule `start`."""
        return self._walk(self._start(llguidance.LLMatcher.grammar_from_lark(source)))

    def compile_calls(self, source: str, openings: Mapping[str, Schema]) -> Walk:
        """Text of the rule `start`, which has JSON of a schema after each of the openings; its items differ where they
        must."""
        walk = self.compile_lark(source)
        if not any(map(asks_for_unique_items, openings.values())):
            return walk
        places = [(opening.encode(), Places(schema).root) for opening, schema in openings.items()]
        return UniqueItemsWalk(walk, self._token_spellings, Written(Mode.OUTSIDE), places)

    def schema_error(self, schema: Schema) -> str:
        """Why a schema is refused by the engine itself, "" when it is not."""
        grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        return llguidance.LLMatcher.validate_grammar(grammar, self._tokenizer, limits=_LIMITS)

    def allows_no_value(self, schema: Schema) -> bool:
        """Whether no text of the vocabulary is of a schema. False for one that is refused for another reason."""
        try:
            walk, _ = self.compile_schema(schema)
            walk.mask()
        except GrammarError as error:
            return "Unsatisfiable schema" in error.message or error.message == no_token_fits().message
        return False

    def lark_error(self, source: str) -> str:
        """Why a grammar in Lark is refused, or that it allows nothing; "" for any other."""
        try:
            return "allows no text" if self.allows_nothing(source) else ""
        except GrammarError as error:
            return error.message.partition("\n")[0]

    def allows_nothing(self, source: str) -> bool:
        """Whether no text of the vocabulary is in a grammar in Lark. Raises GrammarError for one that is refused."""
        matcher = self._start(llguidance.LLMatcher.grammar_from_lark(source))
        matcher.compute_bitmask()
        return matcher.is_error()

    def _walk(self, matcher: llguidance.LLMatcher) -> LlguidanceWalk:
        return LlguidanceWalk(matcher, self._memory, self._spellings)

    def _start(self, grammar: str) -> llguidance.LLMatcher:
        matcher = llguidance.LLMatcher(self._tokenizer, grammar, log_level=0, limits=_LIMITS)
        if matcher.is_error():
            raise GrammarError(matcher.get_error().partition("\n<backtrace>")[0])
        return matcher


class Engines:
    """The engines of one model and one stop set, each made when first used: that takes up to a second.

    Safe to use from any thread.
    """

    def __init__(self, tokenizer: Tokenizer, vocabulary_size: int, stop_tokens: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self._vocabulary_size = vocabulary_size
        self._stop_tokens = stop_tokens
        self._llguidance = CompileCache[LlguidanceEngine](2)

    def llguidance(self, view: View) -> LlguidanceEngine:
        """For one view of the vocabulary."""
        return self._llguidance.get(
            view, 1, lambda: LlguidanceEngine(self._tokenizer, view, self._vocabulary_size, self._stop_tokens)
        )
