"""Texts encoded in pieces have the ids of the whole."""

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, models, normalizers, pre_tokenizers, trainers

from pie_mlx.engine.text.steps import all_steps
from pie_mlx.engine.text.tokens.encoding import PieceEncoder
from pie_mlx.errors import InvalidArgumentError
from tests.engine.text.conftest import CORPUS, PLAIN, SPECIAL, byte_level, sentencepiece

GROUPS_OF_DIGITS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PARTS = [
    "a", " ", "\n", "the quick brown fox ", "  \n\n  ", "123", "4567890", "你好，世界", "。", "🙂", "<think>", "<mask>",
    "  <mask>  ", "<|im_end|>", "x=y;\n\t", "e\u0301", "aaaa", "don't ", "    return 1\n", "привет ", "\u00a0", "_",
]  # fmt: skip


def grouping() -> tokenizers.Tokenizer:
    backend = byte_level(SPECIAL, PLAIN)
    split = pre_tokenizers.Split(Regex(GROUPS_OF_DIGITS), "isolated")
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    backend.normalizer = normalizers.NFC()
    backend.add_tokens([AddedToken("<mask>", lstrip=True, rstrip=True)])
    return backend


def unigram() -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.train_from_iterator(
        CORPUS, trainers.UnigramTrainer(vocab_size=90, unk_token="<unk>", special_tokens=["<unk>"])
    )
    return backend


BACKENDS = {
    "bytes": byte_level(SPECIAL, PLAIN),
    "groups_of_digits": grouping(),
    "one_word": sentencepiece(SPECIAL),
    "unigram": unigram(),
}


@pytest.mark.parametrize("name", BACKENDS)
@settings(deadline=None, max_examples=60)
@given(parts=st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from([1, 1, 2, 30])), max_size=60))
def test_pieces_have_the_ids_of_the_whole(name: str, parts: list[tuple[str, int]]) -> None:
    text = "".join(part * times for part, times in parts)
    encoder = PieceEncoder(BACKENDS[name], piece=64, margin=64)
    assert all_steps(encoder.steps(text)) == BACKENDS[name].encode(text, add_special_tokens=False).ids


def test_others_have_their_turn_between_pieces() -> None:
    steps = PieceEncoder(BACKENDS["bytes"], piece=64, margin=64).steps("Hello there. " * 100)
    counts = list(steps)
    assert len(counts) > 10
    assert counts == sorted(counts)


def test_a_text_that_cannot_be_cut_is_refused() -> None:
    encoder = PieceEncoder(BACKENDS["bytes"], piece=64, margin=64, longest_piece=1024)
    with pytest.raises(InvalidArgumentError, match="no place where no token can cross"):
        all_steps(encoder.steps("a" * 5000))
