"""The special tokens around texts are those that transformers' tokenizer puts there."""

from pathlib import Path

import pytest
from transformers import AutoTokenizer

from benchmarks.tiny_encoders import PAIRS, write_tiny_encoder
from pie_mlx.engine.embedding.frame import Frame, pair_frame, single_frame


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "modernbert"])
def test_one_text_and_two_are_framed_as_by_the_tokenizer(kind: str, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(write_tiny_encoder(tmp_path, kind))
    backend, (first, second) = tokenizer.backend_tokenizer, PAIRS[0]
    plain = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in (first, second)]
    assert single_frame(backend).around(plain[0]).tokens == tokenizer(first)["input_ids"]
    wanted = tokenizer(first, second, return_token_type_ids=True)
    found = pair_frame(backend, typed=True).between(*plain)
    assert found.tokens == wanted["input_ids"]
    types = wanted["token_type_ids"]
    assert found.second == (types.index(1) if 1 in types else None)
    assert pair_frame(backend, typed=False).between(*plain).second is None


def test_a_frame_without_special_tokens_adds_nothing() -> None:
    assert Frame().around([5, 6]).tokens == [5, 6]
    assert (Frame().size, Frame((1,), (2, 2), (3,)).size) == (0, 4)
