"""Small tokenizers trained on the spot: byte-level BPE, and one that spells like SentencePiece with byte fallback."""

from collections.abc import Callable

import pytest
import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from pie_mlx.engine.text.tokens.tokenizer import Tokenizer

CORPUS = [
    "The quick brown fox jumps over the lazy dog. Hello there, how are you?",
    "system user assistant tool name arguments parameters function call result",
    '{"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "exact": true}}',
    "Be brief. One two three, 1 2 3 4 5 6 7 8 9 10, yes and no. Café, naïve, 你好, привет, 🙂.",
]
SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|endoftext|>"]
PLAIN = ["<think>", "</think>", "<tool_call>", "</tool_call>"]

Factory = Callable[..., Tokenizer]


def byte_level(special: list[str], plain: list[str], vocabulary_size: int = 420) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    backend.train_from_iterator(CORPUS * 4, trainer)
    backend.add_tokens([AddedToken(text, special=False, normalized=False) for text in plain])
    return backend


def sentencepiece(special: list[str]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    spelled = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=420, special_tokens=["<unk>", *special, *spelled])
    backend.train_from_iterator([text for text in CORPUS[:3]] * 4, trainer)
    data = backend.to_str()
    return _without_special_bytes(data, set(spelled))


def _without_special_bytes(data: str, spelled: set[str]) -> tokenizers.Tokenizer:
    """Byte tokens are ordinary vocabulary, not added tokens that would be found in text."""
    import json

    document = json.loads(data)
    document["added_tokens"] = [token for token in document["added_tokens"] if token["content"] not in spelled]
    return tokenizers.Tokenizer.from_str(json.dumps(document))


@pytest.fixture(scope="session")
def make_tokenizer() -> Factory:
    """A byte-level tokenizer with a template of the caller's and further special tokens."""
    backends: dict[tuple[str, ...], tokenizers.Tokenizer] = {}

    def make(template: str | None = None, special: tuple[str, ...] = (), **named: str) -> Tokenizer:
        backend = backends.setdefault(special, byte_level([*SPECIAL, *special], PLAIN))
        named = {"eos_token": "<|im_end|>", **named}
        return Tokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, chat_template=template, **named))

    return make


@pytest.fixture(scope="session")
def make_sentencepiece() -> Factory:
    """A tokenizer with ▁ and byte fallback, with a template of the caller's."""
    backend = sentencepiece(SPECIAL)

    def make(template: str | None = None, **named: str) -> Tokenizer:
        named = {"eos_token": "</s>", "bos_token": "<s>", **named}
        return Tokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, chat_template=template, **named))

    return make
