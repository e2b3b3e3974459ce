"""A compiler over the small byte-level tokenizer, with ids of padding after the tokenizer's own."""

import functools

import pytest

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import GrammarService, Matcher
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer

from ..conftest import Factory
from .masks import allowed_tokens
from .speaker import Speak, Speaker

PADDED_SIZE = 450


class Language:
    """Matchers over one tokenizer, and texts fed to them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.stop = tokenizer.id_of("<|im_end|>") or 0
        self.other_stop = tokenizer.id_of("<|endoftext|>") or 0
        self.grammars = GrammarService(tokenizer, PADDED_SIZE, (self.stop, self.other_stop))

    def compile(self, kind: str, text: str = "", **options: object) -> Matcher:
        matcher = self.grammars.compile(GrammarSource(kind, text, **options))  # type: ignore[arg-type]
        assert matcher is not None
        return matcher

    def accepts(self, matcher: Matcher, text: str) -> bool:
        """Whether the text is taken whole and complete; the matcher is left as it was."""
        walk = matcher.fork()
        tokens = self.tokenizer.encode_plain(text)
        return walk.try_accept(tokens) == len(tokens) and walk.is_complete

    def allowed(self, matcher: Matcher) -> set[int]:
        return set(allowed_tokens(matcher, PADDED_SIZE))


@pytest.fixture(scope="session")
def language(make_tokenizer: Factory) -> Language:
    return Language(make_tokenizer())


@pytest.fixture(scope="session")
def sentencepiece_language(make_sentencepiece: Factory) -> Language:
    return Language(make_sentencepiece())


@pytest.fixture(scope="session")
def speak(make_tokenizer: Factory) -> Speak:
    return functools.cache(functools.partial(Speaker, make_tokenizer))
