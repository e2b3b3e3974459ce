"""Model directories with a small tokenizer of each kind that models come with, in the files they come with."""

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from tests.engine.text.conftest import CORPUS, byte_level
from tests.engine.text.conftest import sentencepiece as sentencepiece_like

_SENTENCES = [sentence for line in CORPUS for sentence in line.split(". ")] * 8
_MARKS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}


def _write(folder: Path, model_type: str, tokenizer_class: str, **settings: Any) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": tokenizer_class, **settings}))


def _begins(backend: tokenizers.Tokenizer, before: str, after: str = "") -> tokenizers.Tokenizer:
    marks = [(mark, backend.token_to_id(mark)) for mark in (before, after) if mark]
    single = f"{before} $A {after}".strip()
    backend.post_processor = processors.TemplateProcessing(single, f"{single} $B", marks)
    return backend


def _trained_sentencepiece(kind: str) -> bytes:
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_SENTENCES), model_writer=out, vocab_size=360, model_type=kind, byte_fallback=True,
        hard_vocab_limit=False, minloglevel=2, pad_id=3,
    )  # fmt: skip
    return out.getvalue()


def llama(folder: Path) -> None:
    """SentencePiece-like BPE in tokenizer.json, whose post-processor puts BOS first."""
    _begins(sentencepiece_like(["<s>", "</s>"]), "<s>").save(str(folder / "tokenizer.json"))
    _write(folder, "llama", "LlamaTokenizer", **_MARKS)


def llama_without_post_processor(folder: Path) -> None:
    """The same, where only tokenizer_config.json asks for BOS."""
    sentencepiece_like(["<s>", "</s>"]).save(str(folder / "tokenizer.json"))
    _write(folder, "llama", "LlamaTokenizer", add_bos_token=True, **_MARKS)


def llama_sentencepiece(folder: Path) -> None:
    """A tokenizer.model alone."""
    (folder / "tokenizer.model").write_bytes(_trained_sentencepiece("bpe"))
    _write(folder, "llama", "LlamaTokenizer", add_bos_token=True, **_MARKS)


def gemma_sentencepiece(folder: Path) -> None:
    """The same for Gemma, which has names of its own for the marks."""
    (folder / "tokenizer.model").write_bytes(_trained_sentencepiece("bpe"))
    marks = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    _write(folder, "gemma", "GemmaTokenizer", add_bos_token=True, **marks)


def gpt2(folder: Path) -> None:
    """Byte-level BPE in vocab.json and merges.txt, without BOS."""
    byte_level(["<|endoftext|>"], []).model.save(str(folder))
    marks = dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>")
    _write(folder, "gpt2", "GPT2Tokenizer", **marks)


def qwen2(folder: Path) -> None:
    """Byte-level BPE in tokenizer.json, without BOS."""
    byte_level(["<|endoftext|>"], []).save(str(folder / "tokenizer.json"))
    _write(folder, "qwen2", "Qwen2Tokenizer", add_bos_token=False, eos_token="<|endoftext|>")


def llama3(folder: Path) -> None:
    """Byte-level BPE whose post-processor puts BOS first, after another one."""
    backend = byte_level(["<s>", "</s>"], [])
    begins = processors.TemplateProcessing("<s> $A", "<s> $A <s> $B", [("<s>", backend.token_to_id("<s>"))])
    backend.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), begins])
    backend.save(str(folder / "tokenizer.json"))
    _write(folder, "llama", "PreTrainedTokenizerFast", bos_token="<s>", eos_token="</s>")


def glm(folder: Path) -> None:
    """Two special tokens before a text."""
    backend = byte_level(["[gMASK]", "<sop>", "</s>"], [])
    marks = [(mark, backend.token_to_id(mark)) for mark in ("[gMASK]", "<sop>")]
    backend.post_processor = processors.TemplateProcessing("[gMASK] <sop> $A", "[gMASK] <sop> $A $B", marks)
    backend.save(str(folder / "tokenizer.json"))
    _write(folder, "glm", "PreTrainedTokenizerFast", eos_token="</s>")


def t5(folder: Path) -> None:
    """Unigram in tokenizer.json, with EOS after a text."""
    backend = tokenizers.Tokenizer(models.Unigram())
    backend.normalizer = normalizers.NFKC()
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=200, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    backend.train_from_iterator(CORPUS[:3] * 4, trainer)
    mark = ("</s>", backend.token_to_id("</s>"))
    backend.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [mark])
    backend.save(str(folder / "tokenizer.json"))
    _write(folder, "t5", "T5Tokenizer", eos_token="</s>", unk_token="<unk>", pad_token="<pad>")


def t5_sentencepiece(folder: Path) -> None:
    """Unigram in spiece.model alone."""
    (folder / "spiece.model").write_bytes(_trained_sentencepiece("unigram"))
    _write(folder, "t5", "T5Tokenizer", eos_token="</s>", unk_token="<unk>", pad_token="<pad>", extra_ids=0)


def bert(folder: Path) -> None:
    """WordPiece in vocab.txt, with marks on both sides."""
    words = sorted({word.lower() for line in CORPUS for word in line.replace(".", " ").replace(",", " ").split()})
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (folder / "vocab.txt").write_text("\n".join([*marks, *words]), encoding="utf-8")
    _write(folder, "bert", "BertTokenizer")


def tiktoken(folder: Path) -> None:
    """The ranks of a byte-level BPE, as in Llama 3's own tokenizer.model."""
    ranks = [bytes([byte]) for byte in range(256)] + [b"he", b"ll", b"lo", b"hell", b"hello", b" t", b"the"]
    lines = [f"{base64.b64encode(token).decode()} {rank}" for rank, token in enumerate(ranks)]
    (folder / "tokenizer.model").write_text("\n".join(lines))
    marks = {
        str(len(ranks)): {"content": "<s>", "special": True},
        str(len(ranks) + 1): {"content": "</s>", "special": True},
    }
    _write(folder, "llama", "PreTrainedTokenizerFast", bos_token="<s>", eos_token="</s>", added_tokens_decoder=marks)


FAMILIES: dict[str, Callable[[Path], None]] = {
    make.__name__: make
    for make in (
        llama, llama_without_post_processor, llama_sentencepiece, gemma_sentencepiece, gpt2, qwen2, llama3, glm, t5,
        t5_sentencepiece, bert, tiktoken,
    )
}  # fmt: skip
