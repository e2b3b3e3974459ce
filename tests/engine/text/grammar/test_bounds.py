"""What is kept of compiled grammars is bounded, also where the vocabulary is large."""

import pytest

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import GrammarService, service

from .conftest import PADDED_SIZE, Language

MANY = 12
LARGE_SIZE = 64_000


def kept(grammars: GrammarService) -> int:
    """How many of many grammars, compiled one after the other, are there in the end."""
    sources = [GrammarSource("regex", f"{number}[a-z]+") for number in range(MANY)]
    for source in sources:
        grammars.compile(source)
    return sum(grammars.compiled(source) is not None for source in sources)


def test_a_grammar_is_known_whatever_the_order_of_its_stop_tokens(language: Language) -> None:
    grammars = GrammarService(language.tokenizer, PADDED_SIZE, (language.stop,))
    grammars.compile(GrammarSource("regex", "[a-z]+"), [language.stop, 5, 5])
    assert grammars.compiled(GrammarSource("regex", "[a-z]+"), [5, language.stop]) is not None


def test_the_larger_the_vocabulary_the_fewer_compiled_grammars_are_kept(
    language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "CACHE_CHARACTERS", 50_000)
    small, large = (GrammarService(language.tokenizer, size, (language.stop,)) for size in (PADDED_SIZE, LARGE_SIZE))
    assert kept(large) < kept(small)
