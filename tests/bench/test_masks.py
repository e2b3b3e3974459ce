"""What of grammars is compared with llguidance, on the tokenizer of pie-tiny."""

from collections.abc import Callable

import llguidance
import pytest

from pie_mlx.bench import masks
from pie_mlx.calls import GrammarSource
from pie_mlx.engine.model.loading.load import null_model
from pie_mlx.engine.text.grammar import GrammarService
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import InvalidArgumentError

Compare = Callable[[], list[str]]


@pytest.fixture(scope="module")
def compare() -> Compare:
    tokenizer = Tokenizer(null_model().card.tokenizer)
    size = 2048
    grammars = GrammarService(tokenizer, size, tokenizer.eos_ids)
    return lambda: [row.name for row in masks.mask_rows(tokenizer, grammars, size, 1)]


def test_both_sides_allow_the_same_tokens_in_every_case(compare: Compare) -> None:
    assert compare() == [f"mask per token, {name}" for name in masks.CASES]


def test_different_masks_are_not_compared(compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(source: GrammarSource) -> str:
        return llguidance.LLMatcher.grammar_from_json_schema(source.text or "{}")

    monkeypatch.setattr(masks, "llguidance_grammar", other)
    with pytest.raises(InvalidArgumentError, match="any JSON: the mask of token"):
        compare()
