"""The JSON-Schema-Test-Suite driven through matchers: bytes in, taken whole or not."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import GrammarService, Matcher
from pie_mlx.engine.text.tokenizer import Tokenizer
from pie_mlx.errors import GrammarError

FOLDER = Path(__file__).parents[3] / "data" / "json_schema"
DIALECTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
}


def byte_service() -> tuple[GrammarService, dict[int, int]]:
    """Grammars over a vocabulary of the 256 bytes and one end token, and the token of each byte."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = tokenizers.Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer = Tokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>"))
    tokens = {text[0]: token for token, text in tokenizer.bytes_by_id.tokens.items() if len(text) == 1}
    return GrammarService(tokenizer, tokenizer.size, tokenizer.eos_ids), tokens


@dataclass
class Outcome:
    """Counts by (instance is valid, what became of it), and what went wrong."""

    counts: Counter[tuple[bool, str]] = field(default_factory=Counter)
    wrongly_accepted: list[str] = field(default_factory=list)
    wrongly_refused: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    warned: set[str] = field(default_factory=set)
    compiled: set[str] = field(default_factory=set)

    def row(self, valid: bool) -> tuple[int, int, int]:
        """Accepted, refused by the matcher, not compiled."""
        return self.counts[valid, "accepted"], self.counts[valid, "refused"], self.counts[valid, "not compiled"]


def groups(draft: str) -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    """Name, schema and tests of every group."""
    for path in sorted((FOLDER / draft).glob("*.json")):
        for group in json.loads(path.read_text()):
            yield f"{path.stem}: {group['description']}", group["schema"], group["tests"]


def run(draft: str, *, lenient: bool) -> Outcome:
    """Every test of a draft. Schemas are taken as JSON Schema defines them, objects open."""
    service, tokens = byte_service()
    outcome = Outcome()
    for name, schema, tests in groups(draft):
        declared = {"$schema": DIALECTS[draft], **schema} if isinstance(schema, dict) else schema
        source = GrammarSource("json_schema", json.dumps(declared), strict=False, lenient=lenient)
        try:
            matcher = service.compile(source)
            outcome.compiled.add(name)
            if matcher is not None and matcher.warnings:
                outcome.warned.add(name)
        except GrammarError as error:
            outcome.refusals.append(error.message)
            matcher = None
        for test in tests:
            _judge(outcome, f"{name}: {test['description']}", matcher, tokens, test)
    return outcome


def _judge(outcome: Outcome, name: str, matcher: Matcher | None, tokens: dict[int, int], test: dict[str, Any]) -> None:
    if matcher is None:
        outcome.counts[test["valid"], "not compiled"] += 1
        return
    text = json.dumps(test["data"], separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    spelled = [tokens[byte] for byte in text]
    walk = matcher.fork()
    accepted = walk.try_accept(spelled) == len(spelled) and walk.is_complete
    outcome.counts[test["valid"], "accepted" if accepted else "refused"] += 1
    if accepted and not test["valid"]:
        outcome.wrongly_accepted.append(name)
    if not accepted and test["valid"]:
        outcome.wrongly_refused.append(name)
