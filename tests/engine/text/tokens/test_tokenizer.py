"""Text to ids and back, the bytes of tokens, and which tokens are markup."""

import pytest
import tokenizers
from tokenizers import models
from transformers import PreTrainedTokenizerFast

from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import InvalidArgumentError, ModelLoadError
from tests.engine.text.conftest import PLAIN, SPECIAL, Factory

TEXTS = ["Hello there", " leading", "café 你好 🙂", "a\n\n b", "<|im_end|>"]


@pytest.mark.parametrize("text", TEXTS)
def test_bytes_of_tokens_spell_the_text(make_tokenizer: Factory, text: str) -> None:
    tokenizer = make_tokenizer()
    tokens = tokenizer.encode(text)
    assert b"".join(tokenizer.bytes_by_id.tokens[token] for token in tokens).decode() == text
    assert tokenizer.decode(tokens) == text


def test_a_long_text_is_encoded_as_a_short_one(make_tokenizer: Factory) -> None:
    tokenizer = make_tokenizer()
    line = "Hello there\n<|im_end|>"
    assert tokenizer.encode(line * 1000) == tokenizer.encode(line) * 1000
    assert tokenizer.encode_plain(line * 1000) == tokenizer.encode_plain(line) * 1000
    assert [span.token for span in tokenizer.spans(line * 1000)] == tokenizer.encode(line) * 1000


@pytest.mark.parametrize("text", TEXTS[:4])
def test_bytes_of_sentencepiece_tokens_spell_the_text_after_a_space(make_sentencepiece: Factory, text: str) -> None:
    tokenizer = make_sentencepiece()
    tokens = tokenizer.encode(text)
    assert b"".join(tokenizer.bytes_by_id.tokens[token] for token in tokens).decode() == f" {text}"
    assert tokenizer.bytes_by_id.strips_first_space


def test_special_tokens_are_recognised_unless_asked_otherwise(make_tokenizer: Factory) -> None:
    tokenizer = make_tokenizer()
    assert tokenizer.encode("<|im_end|>") == [tokenizer.id_of("<|im_end|>")]
    plain = tokenizer.encode_plain("<|im_end|>")
    assert tokenizer.id_of("<|im_end|>") not in plain
    assert tokenizer.decode(plain) == "<|im_end|>"


def test_ids_of_a_padded_vocabulary_are_shown_as_ids(make_tokenizer: Factory) -> None:
    tokenizer = make_tokenizer()
    hello, there = tokenizer.encode("Hello"), tokenizer.encode(" there")
    assert tokenizer.shown([*hello, 99998, 99999, *there]) == "Hello<99998><99999> there"


def test_control_tokens_are_the_special_ones(make_tokenizer: Factory) -> None:
    tokenizer = make_tokenizer()
    assert {tokenizer.added_texts[token] for token in tokenizer.control_ids} == set(SPECIAL)
    assert {tokenizer.added_texts[token] for token in tokenizer.markup_ids} == {*SPECIAL, *PLAIN}
    listed = tokenizer.special_tokens()
    assert listed.tokens == [tokenizer.added_texts[token].encode() for token in listed.token_ids]


def test_the_vocabulary_lists_every_token_once(make_tokenizer: Factory) -> None:
    tokenizer = make_tokenizer()
    vocabulary = tokenizer.vocabulary()
    assert vocabulary.token_ids == list(range(tokenizer.size))
    assert len(vocabulary.tokens) == tokenizer.size


def test_unknown_ids_are_refused(make_tokenizer: Factory) -> None:
    with pytest.raises(InvalidArgumentError, match="token 99999"):
        make_tokenizer().decode([1, 99999])


def test_the_split_regex_is_that_of_the_pre_tokenizer(make_tokenizer: Factory, make_sentencepiece: Factory) -> None:
    assert r"\p{L}+" in make_tokenizer().split_regex()
    assert make_sentencepiece().split_regex() == ""


def test_a_tokenizer_without_a_fast_implementation_is_refused() -> None:
    class Slow:
        eos_token_id = None

    with pytest.raises(ModelLoadError, match="Slow"):
        Tokenizer(Slow())  # type: ignore[arg-type]


def test_a_tokenizer_without_a_decoder_spells_as_written() -> None:
    backend = tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    tokenizer = Tokenizer(PreTrainedTokenizerFast(tokenizer_object=backend))
    assert tokenizer.bytes_by_id.tokens == {0: b"a", 1: b"b"}
