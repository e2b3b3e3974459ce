"""Tokenizers read from GGUF give the tokens that the originals do."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from pie_mlx.engine.model.gguf.header import GgufModel
from pie_mlx.engine.model.gguf.vocabulary import end_ids, vocabulary
from pie_mlx.errors import ModelLoadError

TEXTS = [
    "The quick brown fox, it's 12345 times jumping!",
    "two  spaces\n\n\nand lines\t\ttabs ",
    "def f(x):\n    return x**2 # comment",
    "Größe, naïve, 東京タワー, 🙂 and \u202e",
    "I'LL we'Ve don't 3.14159 HTTPServer",
    "",
    "<|end|>plain<|end|> <|end|>",
]
CORPUS = [*TEXTS, "the pages are shared and copied when they are written"] * 4


def gguf_of(tokens: list[str], types: list[int], **values: Any) -> GgufModel:
    metadata = {"general.architecture": "llama", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types}
    given = {f"tokenizer.{key.replace('__', '.')}": value for key, value in values.items()}
    return GgufModel(Path("model.gguf"), metadata | given, {})


def of_bytes(rule: str, cut: list[Any], *, in_words: bool, whole_words: bool = False) -> tuple[Tokenizer, GgufModel]:
    """A byte-level tokenizer as it comes from the hub, and what a GGUF file says of it."""
    original = Tokenizer(BPE(ignore_merges=whole_words))
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=in_words)
    original.pre_tokenizer = pre_tokenizers.Sequence([*cut, pieces])
    original.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=400,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    original.train_from_iterator(CORPUS, trainer)
    model = json.loads(original.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    values = {
        "ggml__model": "gpt2",
        "ggml__pre": rule,
        "ggml__merges": [" ".join(pair) for pair in model["merges"]],
        "ggml__eos_token_id": 0,
        "ggml__bos_token_id": 0,
        "ggml__add_bos_token": False,
    }
    return original, gguf_of(tokens, [3 if token == "<|end|>" else 1 for token in tokens], **values)


LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
RULES: dict[str, tuple[list[Any], bool]] = {
    "gpt-2": ([], True),
    "smollm": ([pre_tokenizers.Digits(individual_digits=True)], True),
    "qwen2": ([pre_tokenizers.Split(Regex(LLAMA3.replace("{1,3}", "")), "isolated")], False),
    "llama-bpe": ([pre_tokenizers.Split(Regex(LLAMA3), "isolated")], False),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_tokenizer_of_bytes_gives_the_tokens_of_the_original(rule: str) -> None:
    cut, in_words = RULES[rule]
    original, model = of_bytes(rule, cut, in_words=in_words, whole_words=rule == "llama-bpe")
    read, _ = vocabulary(model)
    for text in TEXTS:
        assert read.encode(text).ids == original.encode(text).ids
        assert read.decode(read.encode(text).ids) == original.decode(original.encode(text).ids)


@pytest.fixture(scope="module")
def pieces() -> sentencepiece.SentencePieceProcessor:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=written,
        vocab_size=400,
        model_type="bpe",
        byte_fallback=True,
        character_coverage=0.99,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        user_defined_symbols=["<|end|>", "▁▁"],
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())


def of_pieces(pieces: sentencepiece.SentencePieceProcessor, **values: Any) -> GgufModel:
    """What llama.cpp's converter writes of a SentencePiece model."""
    count = pieces.get_piece_size()
    tokens = [pieces.id_to_piece(number) for number in range(count)]

    def kind(number: int) -> int:
        if pieces.is_unknown(number):
            return 2
        if pieces.is_control(number):
            return 3
        if pieces.is_byte(number):
            return 6
        return 4 if tokens[number] in ("<|end|>", "▁▁") else 1

    types = [kind(number) for number in range(count)]
    tokens = [token.replace("▁", " ") if kind == 4 else token for token, kind in zip(tokens, types, strict=True)]
    scores = [pieces.get_score(number) for number in range(count)]
    return gguf_of(tokens, types, ggml__model="llama", ggml__scores=scores, **values)


def test_a_tokenizer_of_pieces_gives_the_tokens_of_sentencepiece(pieces: sentencepiece.SentencePieceProcessor) -> None:
    read, _ = vocabulary(of_pieces(pieces))
    for text in TEXTS[:6]:
        assert read.encode(text).ids == pieces.encode(text)
        assert read.decode(read.encode(text).ids) == pieces.decode(pieces.encode(text))


def test_a_mark_begins_each_text_where_the_file_wants_it(pieces: sentencepiece.SentencePieceProcessor) -> None:
    asked = vocabulary(of_pieces(pieces, ggml__bos_token_id=1, ggml__add_bos_token=True))[0]
    unasked = vocabulary(of_pieces(pieces, ggml__bos_token_id=1, ggml__add_bos_token=False))[0]
    assert asked.encode("two").ids == [1, *unasked.encode("two").ids]


def test_the_template_and_the_names_of_marks_are_kept(pieces: sentencepiece.SentencePieceProcessor) -> None:
    _, settings = vocabulary(of_pieces(pieces, ggml__eos_token_id=2, chat_template="{{ messages }}"))
    assert (settings["eos_token"], settings["chat_template"]) == ("</s>", "{{ messages }}")


def test_the_ends_of_texts_turns_and_messages_all_end(pieces: sentencepiece.SentencePieceProcessor) -> None:
    model = of_pieces(pieces, ggml__eos_token_id=2, ggml__eot_token_id=3, ggml__eom_token_id=1 << 40)
    assert end_ids(model) == [2, 3]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"tokenizer.ggml.model": "t5"}, "of the kind 't5' is not read"),
        ({"tokenizer.ggml.pre": "no-such"}, "'no-such', is not known"),
        ({"tokenizer.ggml.merges": ["a", "b c d"]}, "merges are not of its tokens"),
        ({"tokenizer.ggml.tokens": ["a", "a"]}, "has a token twice"),
        ({"tokenizer.ggml.tokens": "a"}, "tokens is 'a'"),
        ({"tokenizer.ggml.token_type": [1]}, "does not have"),
        ({"tokenizer.chat_template": 7}, "chat_template is 7"),
    ],
)
def test_a_vocabulary_that_does_not_hold_is_refused(change: dict[str, Any], why: str) -> None:
    _, model = of_bytes("gpt-2", [], in_words=True)
    with pytest.raises(ModelLoadError, match=why):
        vocabulary(GgufModel(model.path, {**model.metadata, **change}, {}))
