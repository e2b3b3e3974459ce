"""The JSON-Schema-Test-Suite driven through matchers: bytes in, taken whole or not.

Instances of the suite are values, matchers judge texts. A grammar is free to allow one spelling of a value only, so an
instance is accepted when one of its spellings is: as the suite writes it, with whole numbers written plainly, or with
properties in another order. What is accepted as written is counted apart; with `every_spelling` that is nearly all.

`python -m tests.engine.text.grammar.suite` prints the table.
"""

import itertools
import json
import re
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
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import GrammarError

FOLDER = Path(__file__).parents[3] / "data" / "json_schema"
DIALECTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
}


SPELLINGS = 200
"""Arrangements tried of one instance."""
MODES = {"default": {}, "every spelling": {"every_spelling": True}, "lenient": {"lenient": True}}
"""Ways to compile, by the options that they take."""


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
    spelled_otherwise: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    warned: set[str] = field(default_factory=set)
    compiled: set[str] = field(default_factory=set)

    def row(self, valid: bool) -> tuple[int, int, int]:
        """Accepted, refused by the matcher, not compiled."""
        return self.counts[valid, "accepted"], self.counts[valid, "refused"], self.counts[valid, "not compiled"]

    def reasons(self) -> Counter[str]:
        """How many schemas were refused for a keyword, or else for the engine's reason without its details."""
        return Counter(_reason(message) for message in self.refusals)


def _reason(message: str) -> str:
    """The keyword at the end of the first path named, or what the engine says."""
    path, _, said = message.removeprefix("schema: ").partition(": ")
    if "is not enforceable" in said:
        return path.rpartition(".")[2]
    return re.split(r"[:'\"/]| at | while |\(|, got", said)[0].strip()


def groups(draft: str) -> Iterator[tuple[str, Any, list[dict[str, Any]]]]:
    """Name, schema and tests of every group."""
    for path in sorted((FOLDER / draft).glob("*.json")):
        for group in json.loads(path.read_text()):
            yield f"{path.stem}: {group['description']}", group["schema"], group["tests"]


def run(draft: str, mode: str) -> Outcome:
    """Every test of a draft. Schemas are taken as JSON Schema defines them, objects open."""
    service, tokens = byte_service()
    outcome = Outcome()
    for name, schema, tests in groups(draft):
        declared = {"$schema": DIALECTS[draft], **schema} if isinstance(schema, dict) else schema
        source = GrammarSource("json_schema", json.dumps(declared), strict=False, **MODES[mode])
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


def spellings(value: Any) -> Iterator[str]:
    """Texts of a value: the suite's own first, then every order of properties with whole numbers written plainly."""
    yield _text(value)
    yield from (_text(arranged) for arranged in itertools.islice(_arrangements(value), SPELLINGS))


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _arrangements(value: Any) -> Iterator[Any]:
    if isinstance(value, float) and value.is_integer():
        yield int(value)
    elif isinstance(value, list):
        yield from (list(items) for items in itertools.product(*(list(_arrangements(item)) for item in value)))
    elif isinstance(value, dict):
        choices = [[(key, inner) for inner in _arrangements(item)] for key, item in value.items()]
        for pairs in itertools.product(*choices):
            yield from (dict(order) for order in itertools.permutations(pairs))
    else:
        yield value


def _judge(outcome: Outcome, name: str, matcher: Matcher | None, tokens: dict[int, int], test: dict[str, Any]) -> None:
    if matcher is None:
        outcome.counts[test["valid"], "not compiled"] += 1
        return
    first, *others = [_takes(matcher, tokens, text) for text in spellings(test["data"])]
    accepted = first or any(others)
    outcome.counts[test["valid"], "accepted" if accepted else "refused"] += 1
    if accepted and not test["valid"]:
        outcome.wrongly_accepted.append(name)
    if not accepted and test["valid"]:
        outcome.wrongly_refused.append(name)
    if accepted and not first and test["valid"]:
        outcome.spelled_otherwise.append(name)


def _takes(matcher: Matcher, tokens: dict[int, int], text: str) -> bool:
    spelled = [tokens[byte] for byte in text.encode("utf-8", "surrogatepass")]
    walk = matcher.fork()
    return walk.try_accept(spelled) == len(spelled) and walk.is_complete


def table() -> Iterator[str]:
    """One line per draft and way to compile, and what is refused most."""
    heads = ("valid: taken (as written)  lost", "of compiled", "invalid: taken", "not compiled")
    yield "{:14} {:14} {:>32} {:>20} {:>15} {:>13}".format("draft", "", *heads)
    found = {(draft, mode): run(draft, mode) for draft, mode in itertools.product(DIALECTS, MODES)}
    for (draft, mode), outcome in found.items():
        (taken, lost, unseen), (wrong, _, unseen_invalid) = outcome.row(True), outcome.row(False)
        as_written = taken - len(outcome.spelled_otherwise)
        yield (
            f"{draft:14} {mode:14} {taken:13} ({as_written:6}) {lost:16} {taken / (taken + lost):10.1%}"
            f" ({as_written / (taken + lost):6.1%}) {wrong:15} {unseen + unseen_invalid:13}"
        )
    for draft in DIALECTS:
        for mode in ("default", "every spelling"):
            yield f"\n{draft}, {mode}: valid instances accepted in another spelling only"
            yield from (f"       {name}" for name in found[draft, mode].spelled_otherwise)
        yield f"\n{draft}: schemas refused, by keyword or reason"
        yield from (f"{count:5}  {reason}" for reason, count in found[draft, "default"].reasons().most_common())


if __name__ == "__main__":
    print("\n".join(table()))
