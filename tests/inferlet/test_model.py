"""Models, tokenizers and the runtime."""

import pytest

from inferlet import Model, runtime
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError, ModelNotFoundError
from tests.inferlet.toy_language import FIRST, VOCABULARY, encode


def test_an_unknown_model_is_an_error(model: Model) -> None:  # I2
    with pytest.raises(ModelNotFoundError, match="toy"):
        Model.load("other")


def test_text_becomes_tokens_and_back(model: Model) -> None:
    tokenizer = model.tokenizer()
    assert tokenizer.encode("hi") == encode("hi")
    assert tokenizer.decode(encode("<s>hi")) == "<s>hi"
    with pytest.raises(InvalidArgumentError):
        tokenizer.decode([VOCABULARY])
    with pytest.raises(InvalidTypeError):
        tokenizer.decode(["a"])  # pyright: ignore[reportArgumentType]


def test_the_vocabulary_comes_as_parallel_lists(model: Model) -> None:
    ids, texts = model.tokenizer().vocabs()
    assert len(ids) == len(texts) == VOCABULARY
    assert texts[ids.index(encode("a")[0])] == b"a"
    assert len(model.tokenizer().special_tokens()[0]) == FIRST
    assert model.tokenizer().split_regex() == "."


def test_the_runtime_describes_itself(model: Model) -> None:
    assert runtime.models() == ["toy"] == [model.name]
    assert (runtime.version(), runtime.instance_id(), runtime.username()) == ("1.2.3", "instance", "ada")
    assert runtime.process_id() == "process"
