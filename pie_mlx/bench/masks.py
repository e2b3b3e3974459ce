"""The time of a grammar's mask per token: by this engine, and by llguidance called directly.

llguidance is called as by its own numpy interface, into one array that is allocated beforehand.
"""

import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import llguidance
import numpy as np

from pie_mlx.bench.comparison import Row
from pie_mlx.calls import GrammarSource
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.grammar.base import Matcher
from pie_mlx.engine.text.grammar.llguidance_engine import WHITESPACE
from pie_mlx.engine.text.grammar.masks import words_for
from pie_mlx.engine.text.grammar.service import GrammarService
from pie_mlx.engine.text.grammar.views import tokenizer_json
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import GrammarError, InvalidArgumentError
from pie_mlx.runtime.engine import Engine


def _object(required: Sequence[str] = (), **properties: object) -> dict[str, object]:
    """A schema that allows no other properties."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT = {"type": "string"}
ORDER_SCHEMA = _object(
    ("id", "customer", "items"),
    id={"type": "integer"},
    customer=_object(name=_TEXT, mail=_TEXT),
    items={"type": "array", "items": _object(sku=_TEXT)},
)
ORDER_TEXT = json.dumps(
    {"id": 4711, "customer": {"name": "Ann Lee", "mail": "ann@example.org"}, "items": [{"sku": "A-1"}] * 8}
)
CASES = {
    "any JSON": (GrammarSource("json"), ORDER_TEXT),
    "object schema": (GrammarSource("json_schema", json.dumps(ORDER_SCHEMA)), ORDER_TEXT),
    "regex of an e-mail": (GrammarSource("regex", r"[a-z0-9._]+@[a-z0-9-]+(\.[a-z]{2,})+"), "ann.lee@mail.example.org"),
}


async def compare_masks(engine: Engine, repeats: int) -> list[Row]:
    """Medians over all tokens of a fixed text and over `repeats` alternating rounds, on the model's tokenizer."""
    tokenizer, grammars, size = await engine.consult(_grammar_parts)
    return list(mask_rows(tokenizer, grammars, size, repeats))


def mask_rows(tokenizer: Tokenizer, grammars: GrammarService, vocabulary: int, repeats: int) -> Iterator[Row]:
    """A row for each of CASES, in microseconds. Raises InvalidArgumentError if the masks of the two differ."""
    stops = _ours(grammars, GrammarSource("json")).stop_tokens
    direct = llguidance.LLTokenizer(tokenizer_json(tokenizer, "user"), n_vocab=vocabulary, eos_token=list(stops))
    for name, (source, text) in CASES.items():
        tokens = tokenizer.encode(text)
        _require_equal_masks(name, _ours(grammars, source), _llguidance(direct, source), tokens)
        theirs: list[float] = []
        mine: list[float] = []
        for _ in range(repeats):
            theirs += llguidance_masks(_llguidance(direct, source), tokens, vocabulary)
            mine += matcher_masks(_ours(grammars, source), tokens)
        medians = statistics.median(theirs), statistics.median(mine)
        yield Row(f"mask per token, {name}", *medians, "us", True, against="llguidance")


def _grammar_parts(services: Services) -> tuple[Tokenizer, GrammarService, int]:
    return services.language.tokenizer, services.language.grammars, services.model_info.vocabulary_size


def _require_equal_masks(name: str, ours: Matcher, theirs: llguidance.LLMatcher, tokens: Sequence[int]) -> None:
    for place, token in enumerate(tokens):
        mask = ours.packed_mask()
        if mask.tobytes() != theirs.compute_bitmask()[: mask.nbytes]:
            raise InvalidArgumentError(
                f"bench: {name}: the mask of token {place} is not that of llguidance",
                hint="masks of this model cannot be compared: name the other cases with --case",
            )
        ours.accept([token])
        theirs.consume_token(token)


def _ours(grammars: GrammarService, source: GrammarSource) -> Matcher:
    matcher = grammars.compile(source)
    if matcher is None:
        raise GrammarError(f"bench: a {source.kind} grammar has no matcher")
    return matcher


def _llguidance(tokenizer: llguidance.LLTokenizer, source: GrammarSource) -> llguidance.LLMatcher:
    return llguidance.LLMatcher(tokenizer, llguidance_grammar(source))


def llguidance_grammar(source: GrammarSource) -> str:
    """A "json", "json_schema" or "regex" source, for llguidance's own interface."""
    if source.kind == "regex":
        return llguidance.LLMatcher.grammar_from_regex(source.text)
    return llguidance.LLMatcher.grammar_from_json_schema(
        source.text or "{}", overrides={"whitespace_pattern": WHITESPACE}
    )


def matcher_masks(matcher: Matcher, tokens: Sequence[int]) -> list[float]:
    """Microseconds of the mask before each token."""
    return mask_microseconds(matcher.packed_mask, lambda token: matcher.accept([token]), tokens)


def llguidance_masks(matcher: llguidance.LLMatcher, tokens: Sequence[int], vocabulary: int) -> list[float]:
    """Microseconds of the mask before each token."""
    row = np.zeros(words_for(vocabulary), np.int32)
    fill = matcher.unsafe_compute_mask_ptr
    return mask_microseconds(lambda: fill(row.ctypes.data, row.nbytes), matcher.consume_token, tokens)


def mask_microseconds(mask: Callable[[], object], feed: Callable[[int], object], tokens: Sequence[int]) -> list[float]:
    """The time of the mask before each token."""
    found: list[float] = []
    for token in tokens:
        started = time.perf_counter()
        mask()
        found.append((time.perf_counter() - started) * 1e6)
        feed(token)
    return found
