"""Model directories that somebody broke: each is refused in one line, before anything is built of it."""

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.errors import ModelLoadError
from pie_mlx.runtime.models import suitability

Change = Callable[[Path], object]
DEEP = "[" * 10_000
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


def written(name: str, content: str | bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def with_keys(name: str, **keys: Any) -> Change:
    def change(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | keys))

    return change


def config(**keys: Any) -> Change:
    return with_keys("config.json", **keys)


def header(content: bytes) -> Change:
    return written(WEIGHTS, struct.pack("<Q", len(content)) + content)


def first_tensor(**claims: Any) -> Change:
    def change(folder: Path) -> None:
        data = (folder / WEIGHTS).read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        entries = json.loads(data[8 : 8 + length])
        next(entry for name, entry in entries.items() if name != "__metadata__").update(claims)
        text = json.dumps(entries).encode()
        (folder / WEIGHTS).write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])

    return change


def vocabulary(change: Callable[[dict[str, int]], dict[str, int]]) -> Change:
    def apply(folder: Path) -> None:
        path = folder / "tokenizer.json"
        document = json.loads(path.read_text())
        document["model"]["vocab"] = change(document["model"]["vocab"])
        path.write_text(json.dumps(document))

    return apply


def pipe(name: str) -> Change:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return change


def longer(name: str, size: int) -> Change:
    def change(folder: Path) -> None:
        with (folder / name).open("ab") as file:
            file.truncate(size)

    return change


SEEN_BEFORE: dict[str, tuple[Change, str]] = {
    "no object": (written("config.json", "[]"), "not a JSON object"),
    "null": (written("config.json", "null"), "not a JSON object"),
    "a number": (written("config.json", "3"), "not a JSON object"),
    "deep": (written("config.json", DEEP), "nested deeper"),
    "deep inside": (config(rope_scaling=json.loads("[" * 900 + "]" * 900)), "nested deeper"),
    "a long number": (written("config.json", '{"model_type": ' + "9" * 5000 + "}"), "not JSON"),
    "bytes": (written("config.json", b"\xff\xfe{}"), "not JSON"),
    "a long configuration": (longer("config.json", 5 << 20), "longer than 4 MiB"),
    "many layers": (config(num_hidden_layers=100_000), "num_hidden_layers is 100000"),
    "many layers inside": (config(text_config={"num_hidden_layers": 10**12}), "num_hidden_layers is 1000000000000"),
    "no key heads": (config(num_key_value_heads=0), "num_key_value_heads is 0 for 4"),
    "heads that do not divide": (config(num_key_value_heads=3), "num_key_value_heads is 3 for 4"),
    "a list for a type": (config(model_type=["llama"]), "model_type is"),
    "a path for a type": (config(model_type="../../llama"), "model_type is"),
    "control characters": (config(model_type="a\x1b[2J\n"), r"model_type is 'a\\x1b"),
    "a text for a part": (config(text_config="llama"), "text_config is 'llama'"),
    "an end that is no token": (config(eos_token_id={"a": 1}), "eos_token_id is"),
    "an end beyond all tokens": (config(eos_token_id=10**30), "eos_token_id is"),
    "a list of generation": (written("generation_config.json", "[]"), "not a JSON object"),
    "deep generation": (written("generation_config.json", DEEP), "nested deeper"),
    "deep quantization": (written("hf_quant_config.json", DEEP), "nested deeper"),
    "an index that is a list": (written(INDEX, "[]"), "not a JSON object"),
    "an index of a list": (written(INDEX, '{"weight_map": [1]}'), "weight_map is"),
    "an index of objects": (written(INDEX, '{"weight_map": {"a": {}}}'), "weight_map is"),
    "a deep index": (written(INDEX, DEEP), "nested deeper"),
    "an index that leads away": (written(INDEX, '{"weight_map": {"a": "../../etc/passwd"}}'), "lacks ../../etc/passwd"),
    "an endless header": (written(WEIGHTS, struct.pack("<Q", 1 << 63) + b"{}"), "no safetensors file"),
    "a list for a header": (header(b"[]"), "not a JSON object"),
    "a deep header": (header(DEEP.encode()), "nested deeper"),
    "a header without places": (header(b'{"a": {"dtype": "F32", "shape": [1]}}'), "wrong about 'a'"),
    "a header of null": (header(b'{"a": null}'), "wrong about 'a'"),
    "a negative shape": (first_tensor(shape=[-4, -4]), "wrong about"),
    "a shape of truths": (first_tensor(shape=[True]), "wrong about"),
    "an endless shape": (first_tensor(shape=[1 << 40, 1 << 40]), "does not take the bytes"),
    "an unknown type": (first_tensor(dtype="Q7"), "unknown type 'Q7'"),
    "a place before the file": (first_tensor(data_offsets=[-8, 8]), "does not take the bytes|does not begin"),
    "a place after the file": (first_tensor(data_offsets=[10**20, 10**20]), "does not take the bytes"),
    "weights that are a pipe": (pipe("model-1.safetensors"), "no regular file"),
    "a configuration that is a pipe": (pipe("config.json"), "no regular file"),
    "generation that is a pipe": (pipe("generation_config.json"), "no regular file"),
    "a template that is a pipe": (pipe("chat_template.jinja"), "no regular file"),
    "weights that are a directory": (lambda folder: (folder / "model-1.safetensors").mkdir(), "no regular file"),
    "a long template": (longer("chat_template.jinja", 65 << 20), "longer than 64 MiB"),
    "a long vocabulary": (longer("tokenizer.json", 65 << 20), "longer than 64 MiB"),
}
"""Found by looking at the directory alone."""

SEEN_LATER: dict[str, tuple[Change, str]] = {
    "no layers": (config(num_hidden_layers=0), "cannot be built"),
    "layers that are a text": (config(num_hidden_layers="many"), "cannot be built"),
    "a huge width": (config(hidden_size=10**12), "cannot be built"),
    "a negative width": (config(hidden_size=-64), "cannot be built"),
    "a width that is missing": (config(hidden_size=None), "cannot be built"),
    "more words than weights": (config(vocab_size=10**9), "Expected shape"),
    "fewer words than weights": (config(vocab_size=10), "Expected shape"),
    "a module that is no model": (config(model_type="cache"), "cannot be built"),
    "code of its own": (config(model_file="evil.py"), "requires importing"),
    "a vocabulary that is a list": (written("tokenizer.json", "[]"), "not a JSON object"),
    "a deep vocabulary": (written("tokenizer.json", DEEP), "nested deeper"),
    "no vocabulary": (written("tokenizer.json", "{}"), "holds no vocabulary"),
    "negative ids": (vocabulary(lambda ids: {token: -one for token, one in ids.items()}), "a token's id"),
    "huge ids": (vocabulary(lambda ids: {token: one + (1 << 31) for token, one in ids.items()}), "a token's id"),
    "equal ids": (vocabulary(lambda ids: dict.fromkeys(ids, 1)), "two tokens have the same id"),
    "a huge token": (vocabulary(lambda ids: ids | {"a" * (1 << 20): 400}), "a token is no text"),
    "a type of tokenizer that there is not": (with_keys("tokenizer.json", model={"type": "x", "vocab": {}}), "cannot"),
    "a normalizer that panics": (
        with_keys("tokenizer.json", normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        "cannot be loaded",
    ),
    "settings that are a list": (written("tokenizer_config.json", "[]"), "cannot be loaded"),
    "deep settings": (written("tokenizer_config.json", DEEP), "cannot be loaded"),
}
"""Found when it is loaded."""


@pytest.fixture
def copied(tiny_model_directory: Callable[[str], Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model_directory("llama"), tmp_path / "copied"))


@pytest.mark.parametrize(("change", "why"), SEEN_BEFORE.values(), ids=SEEN_BEFORE.keys())
def test_a_broken_directory_is_told_and_never_built(change: Change, why: str, copied: Path) -> None:
    change(copied)
    with pytest.raises(ModelLoadError, match=why) as raised:
        load_model(str(copied), name="tiny")
    assert "\n" not in raised.value.message
    assert suitability(copied).problem


@pytest.mark.parametrize(("change", "why"), SEEN_LATER.values(), ids=SEEN_LATER.keys())
def test_what_only_loading_finds_is_told_in_one_line_too(change: Change, why: str, copied: Path) -> None:
    change(copied)
    with pytest.raises(ModelLoadError, match=why) as raised:
        load_model(str(copied), name="tiny")
    assert "\n" not in raised.value.message
    suitability(copied)


def test_weights_larger_than_the_memory_are_refused(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_backend(), "memory_bytes", lambda: 1000)
    with pytest.raises(ModelLoadError, match="take 0 GiB, this machine has 0"):
        load_model(str(copied), name="tiny")


def test_links_into_a_cache_are_followed(copied: Path, tmp_path: Path) -> None:
    linked = tmp_path / "snapshot"
    linked.mkdir()
    for file in copied.iterdir():
        (linked / file.name).symlink_to(file)
    assert load_model(str(linked), name="tiny").vocabulary_size > 0


def test_a_prompt_is_never_padded_whatever_the_vocabulary_says(copied: Path) -> None:
    padding = {
        "strategy": {"Fixed": 1 << 30},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "x",
    }
    with_keys("tokenizer.json", padding=padding)(copied)
    tokenizer = load_model(str(copied), name="tiny").tokenizer
    assert len(tokenizer.backend_tokenizer.encode("pages").ids) < 10
