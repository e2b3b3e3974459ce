"""Tiny encoders with random weights as directories that load like any other model, in the names of transformers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WIDTH, INNER, LAYERS, HEADS, POSITIONS = 32, 48, 3, 4, 64
_SPELLED = "the a cat dog sat on mat red apple fruit is train runs fast sweet and un ##s ##ly ##ing , . ?"
WORDS = _SPELLED.split()
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
TEXTS = [
    "the cat sat on a mat.",
    "an apple is a sweet red fruit, and the dogs runs",
    "trains",
    "Is the train running fast?",
]
PAIRS = [("what is sweet?", "an apple is a sweet red fruit"), ("what is sweet?", "the train")]

Shape = tuple[int, ...]


def write_tiny_encoder(folder: Path, kind: str, *, labels: int = 0, seed: int = 0, **options: Any) -> Path:
    """An encoder of a model type, with a head of `labels` scores unless 0."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer, special = _TOKENIZERS[kind]()
    config = _config(kind, tokenizer, labels) | options
    shapes = _modernbert(config) if kind == "modernbert" else _bert(config, kind)
    random = np.random.Generator(np.random.Philox(seed))
    weights = {name: _weight(random, name, shape) for name, shape in shapes}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer.save(str(folder / "tokenizer.json"))
    limit = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": config["max_position_embeddings"] - 2}
    (folder / "tokenizer_config.json").write_text(json.dumps(limit | special))
    return folder


def write_conventions(folder: Path, *, pooling: str = "mean", normalises: bool = True, **prompts: str) -> Path:
    """What sentence-transformers writes beside a model that makes vectors."""
    kinds = ["Transformer", "Pooling", *(["Normalize"] if normalises else [])]
    modules = [
        {"idx": place, "name": str(place), "path": f"{place}_{kind}" if place else "",
         "type": f"sentence_transformers.models.{kind}"}
        for place, kind in enumerate(kinds)
    ]  # fmt: skip
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    modes = {"cls": "cls_token", "mean": "mean_tokens", "last": "lasttoken", "max": "max_tokens"}
    chosen = {f"pooling_mode_{mode}": name == pooling for name, mode in modes.items()}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": WIDTH, **chosen}))
    told = {"prompts": prompts, "default_prompt_name": None, "similarity_fn_name": "cosine"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(told))
    return folder


def _weight(random: np.random.Generator, name: str, shape: Shape) -> np.ndarray:
    values = random.standard_normal(shape) * (0.3 if len(shape) > 1 else 0.1)
    is_norm = len(shape) == 1 and name.endswith("weight")
    return (values + is_norm).astype(np.float32)


def _config(kind: str, tokenizer: Tokenizer, labels: int) -> dict[str, Any]:
    head = {"bert": "Bert", "xlm-roberta": "XLMRoberta", "roberta": "Roberta", "modernbert": "ModernBert"}[kind]
    shared = {
        "model_type": kind,
        "architectures": [f"{head}ForSequenceClassification" if labels else f"{head}Model"],
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": POSITIONS,
    }
    if labels:
        shared["id2label"] = {str(label): f"LABEL_{label}" for label in range(labels)}
        shared["label2id"] = {f"LABEL_{label}": label for label in range(labels)}
    if kind == "modernbert":
        own = {"global_attn_every_n_layers": 2, "local_attention": 8, "global_rope_theta": 160000.0}
        ends = {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
        return shared | own | ends | {"local_rope_theta": 10000.0, "norm_eps": 1e-5, "classifier_pooling": "mean"}
    padding = 0 if kind == "bert" else 1
    return shared | {"type_vocab_size": 2 if kind == "bert" else 1, "layer_norm_eps": 1e-5, "pad_token_id": padding}


def _bert(config: dict[str, Any], kind: str) -> Iterator[tuple[str, Shape]]:
    labels, width, inner = len(config.get("id2label", ())), config["hidden_size"], config["intermediate_size"]
    prefix = ("bert." if kind == "bert" else "roberta.") if labels else ""
    for name, rows in (
        ("word", "vocab_size"),
        ("position", "max_position_embeddings"),
        ("token_type", "type_vocab_size"),
    ):
        yield f"{prefix}embeddings.{name}_embeddings.weight", (config[rows], width)
    yield from _norm(f"{prefix}embeddings.LayerNorm", width)
    for layer in range(config["num_hidden_layers"]):
        within = f"{prefix}encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            yield from _linear(f"{within}.attention.{part}", width, width)
        yield from _norm(f"{within}.attention.output.LayerNorm", width)
        yield from _linear(f"{within}.intermediate.dense", inner, width)
        yield from _linear(f"{within}.output.dense", width, inner)
        yield from _norm(f"{within}.output.LayerNorm", width)
    if kind == "bert":
        yield from _linear(f"{prefix}pooler.dense", width, width)
    if labels and kind == "bert":
        yield from _linear("classifier", labels, width)
    elif labels:
        yield from _linear("classifier.dense", width, width)
        yield from _linear("classifier.out_proj", labels, width)


def _modernbert(config: dict[str, Any]) -> Iterator[tuple[str, Shape]]:
    labels, width, inner = len(config.get("id2label", ())), config["hidden_size"], config["intermediate_size"]
    prefix = "model." if labels else ""
    yield f"{prefix}embeddings.tok_embeddings.weight", (config["vocab_size"], width)
    yield f"{prefix}embeddings.norm.weight", (width,)
    for layer in range(config["num_hidden_layers"]):
        within = f"{prefix}layers.{layer}"
        if layer:
            yield f"{within}.attn_norm.weight", (width,)
        yield f"{within}.attn.Wqkv.weight", (3 * width, width)
        yield f"{within}.attn.Wo.weight", (width, width)
        yield f"{within}.mlp_norm.weight", (width,)
        yield f"{within}.mlp.Wi.weight", (2 * inner, width)
        yield f"{within}.mlp.Wo.weight", (width, inner)
    yield f"{prefix}final_norm.weight", (width,)
    if labels:
        yield "head.dense.weight", (width, width)
        yield "head.norm.weight", (width,)
        yield from _linear("classifier", labels, width)


def _linear(name: str, rows: int, columns: int) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (rows, columns)
    yield f"{name}.bias", (rows,)


def _norm(name: str, width: int) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (width,)
    yield f"{name}.bias", (width,)


def _word_pieces() -> tuple[Tokenizer, dict[str, Any]]:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    entries = [*special, *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS]
    vocabulary = {entry: place for place, entry in enumerate(dict.fromkeys(entries))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(special)
    pair = "[CLS] $A [SEP] $B:1 [SEP]:1"
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", pair, [("[CLS]", 2), ("[SEP]", 3)])
    types = {"model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
    return tokenizer, types | {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}


def _unigrams() -> tuple[Tokenizer, dict[str, Any]]:
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, "▁", *LETTERS, *",.?", *(f"▁{word}" for word in WORDS if word[0] not in "#,.?")]
    scored = [(piece, -1.0 - place / 100) for place, piece in enumerate(pieces)]
    tokenizer = Tokenizer(models.Unigram(scored, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(special)
    pair = "<s> $A </s> </s> $B </s>"
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", pair, [("<s>", 0), ("</s>", 2)])
    return tokenizer, {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def _bytes() -> tuple[Tokenizer, dict[str, Any]]:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    entries = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({entry: place for place, entry in enumerate(entries)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(special)
    pair = "[CLS] $A [SEP] $B [SEP]"
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", pair, [("[CLS]", 2), ("[SEP]", 3)])
    return tokenizer, {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}


_TOKENIZERS = {"bert": _word_pieces, "xlm-roberta": _unigrams, "roberta": _unigrams, "modernbert": _bytes}
