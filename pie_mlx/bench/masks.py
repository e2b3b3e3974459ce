"""What a grammar costs per token: masks of this engine beside llguidance called directly."""

import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import llguidance
import numpy as np

from pie_mlx.bench.row import Row
from pie_mlx.calls import GrammarSource
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.grammar.masks import words_for
from pie_mlx.engine.text.grammar.service import GrammarService
from pie_mlx.engine.text.tokenizer import Tokenizer
from pie_mlx.errors import GrammarError
from pie_mlx.runtime.embedding import Engine

ORDER_SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "customer": {"type": "object", "properties": {"name": {"type": "string"}, "mail": {"type": "string"}}},
        "items": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
    },
    "required": ["id", "customer", "items"],
}
ORDER_TEXT = json.dumps(
    {"id": 4711, "customer": {"name": "Ann Lee", "mail": "ann@example.org"}, "items": [{"sku": "A-1"}] * 8}
)
CASES = {
    "any JSON": (GrammarSource("json"), ORDER_TEXT),
    "object schema": (GrammarSource("json_schema", json.dumps(ORDER_SCHEMA)), ORDER_TEXT),
    "regex of an e-mail": (GrammarSource("regex", r"[a-z0-9._]+@[a-z0-9-]+(\.[a-z]{2,})+"), "ann.lee@mail.example.org"),
}


async def compare_masks(engine: Engine, repeats: int) -> list[Row]:
    """Medians over all tokens of a fixed text and over `repeats` rounds that take turns, on the model's tokenizer."""
    tokenizer, grammars, size = await engine.consult(_grammar_parts)
    return list(mask_rows(tokenizer, grammars, size, repeats))


def mask_rows(tokenizer: Tokenizer, grammars: GrammarService, vocabulary: int, repeats: int) -> Iterator[Row]:
    """A row for each of CASES, in microseconds."""
    direct = llguidance.LLTokenizer(tokenizer.backend.to_str(), n_vocab=vocabulary, eos_token=list(tokenizer.eos_ids))
    for name, (source, text) in CASES.items():
        tokens = tokenizer.encode(text)
        theirs: list[float] = []
        mine: list[float] = []
        for _ in range(repeats):
            theirs += _llguidance(direct, source, tokens, vocabulary)
            mine += _ours(grammars, source, tokens)
        medians = statistics.median(theirs), statistics.median(mine)
        yield Row(f"mask per token, {name}", *medians, "us", True, against="llguidance")


def _grammar_parts(services: Services) -> tuple[Tokenizer, GrammarService, int]:
    return services.tokenizer, services.grammars, services.model_info.vocabulary_size


def _ours(grammars: GrammarService, source: GrammarSource, tokens: Sequence[int]) -> list[float]:
    matcher = grammars.compile(source)
    if matcher is None:
        raise GrammarError(f"bench: a {source.kind} grammar has no matcher")
    return mask_microseconds(matcher.packed_mask, lambda token: matcher.accept([token]), tokens)


def _llguidance(
    tokenizer: llguidance.LLTokenizer, source: GrammarSource, tokens: Sequence[int], vocabulary: int
) -> list[float]:
    return llguidance_masks(llguidance.LLMatcher(tokenizer, llguidance_grammar(source)), tokens, vocabulary)


def llguidance_grammar(source: GrammarSource) -> str:
    """A "json", "json_schema" or "regex" source as llguidance's own interface takes it."""
    if source.kind == "regex":
        return llguidance.LLMatcher.grammar_from_regex(source.text)
    return llguidance.LLMatcher.grammar_from_json_schema(source.text or "{}")


def llguidance_masks(matcher: llguidance.LLMatcher, tokens: Sequence[int], vocabulary: int) -> list[float]:
    """Microseconds of the mask before each token."""
    row = np.zeros(words_for(vocabulary), np.int32)
    fill = matcher.unsafe_compute_mask_ptr
    return mask_microseconds(lambda: fill(row.ctypes.data, row.nbytes), matcher.consume_token, tokens)


def mask_microseconds(mask: Callable[[], object], take: Callable[[int], object], tokens: Sequence[int]) -> list[float]:
    """The time of the mask before each token."""
    found: list[float] = []
    for token in tokens:
        started = time.perf_counter()
        mask()
        found.append((time.perf_counter() - started) * 1e6)
        take(token)
    return found
