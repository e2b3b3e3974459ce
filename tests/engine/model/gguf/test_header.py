"""Headers that somebody broke, or made to break a reader: each is refused in one line."""

import os
import struct
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.engine.model.gguf import header
from pie_mlx.engine.model.gguf.header import read_model
from pie_mlx.errors import ModelLoadError


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def entry(key: bytes, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def tensor(name: bytes, shape: tuple[int, ...], kind: int, offset: int) -> bytes:
    sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
    return text(name) + sizes + struct.pack("<IQ", kind, offset)


def file_of(*parts: bytes, tensors: int = 0, entries: int = 0, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, entries) + b"".join(parts)


ARRAY, TEXT, U32 = 9, 8, 4
BROKEN = {
    "nothing": (b"", "ends too early"),
    "another format": (b"PK\3\4" + b"\0" * 60, "no GGUF file"),
    "an old version": (file_of(version=1), "GGUF of version 1"),
    "the other byte order": (file_of(version=3 << 24), "GGUF of version 50331648"),
    "endless entries": (file_of(entries=1 << 63), "has 9,223,372,036,854,775,808 values"),
    "endless tensors": (file_of(tensors=1 << 40), "tensors, more than 65,536"),
    "entries that are not there": (file_of(entries=5), "ends too early"),
    "an endless key": (file_of(struct.pack("<Q", 1 << 62), entries=1), "a text of 4,611,"),
    "an endless text": (file_of(text(b"a"), struct.pack("<IQ", TEXT, 1 << 40), entries=1), "more than 4,194,304"),
    "no text": (file_of(entry(b"a", TEXT, text(b"\xff\xfe")), entries=1), "not UTF-8"),
    "an unknown type": (file_of(entry(b"a", 77, b""), entries=1), "unknown type 77"),
    "an endless array": (file_of(entry(b"a", ARRAY, struct.pack("<IQ", U32, 1 << 60)), entries=1), "arrays of more"),
    "an array of arrays": (file_of(entry(b"a", ARRAY, struct.pack("<IQ", ARRAY, 1)), entries=1), "array of the type 9"),
    "an array cut short": (file_of(entry(b"a", ARRAY, struct.pack("<IQ", U32, 1000)), entries=1), "ends too early"),
    "a key twice": (file_of(entry(b"a", U32, b"\0" * 4), entry(b"a", U32, b"\0" * 4), entries=2), "has 'a' twice"),
    "a wrong alignment": (
        file_of(entry(b"general.alignment", U32, struct.pack("<I", 3)), entries=1),
        "general.alignment is 3",
    ),
    "no dimensions": (file_of(tensor(b"w", (), 0, 0), tensors=1), "0 dimensions"),
    "many dimensions": (file_of(text(b"w"), struct.pack("<I", 1 << 31), tensors=1), "2147483648 dimensions"),
    "an unknown tensor": (file_of(tensor(b"w", (32,), 999, 0), tensors=1), "unknown type 999"),
    "an endless shape": (file_of(tensor(b"w", (1 << 62, 1 << 62), 0, 0), tensors=1), "its header describes"),
    "an empty shape": (file_of(tensor(b"w", (0, 32), 0, 0), tensors=1), "does not consist of F32 blocks"),
    "half a block": (file_of(tensor(b"w", (33,), 8, 0), tensors=1), "does not consist of Q8_0 blocks"),
    "a place after the end": (file_of(tensor(b"w", (8,), 0, 1 << 62), tensors=1), "its header describes"),
    "a crooked place": (file_of(tensor(b"w", (8,), 0, 5), tensors=1), "does not begin where"),
    "two tensors in one place": (
        file_of(tensor(b"v", (8,), 0, 0), tensor(b"w", (8,), 0, 0), tensors=2) + b"\0" * 200,
        "does not begin where",
    ),
    "no data": (file_of(tensor(b"w", (1000,), 0, 0), tensors=1), "its header describes"),
}


@pytest.mark.parametrize(("data", "why"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_header_is_refused_in_one_line(data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(data)
    with pytest.raises(ModelLoadError, match=why) as raised:
        read_model(tmp_path / "model.gguf")
    assert "\n" not in raised.value.message


def test_a_pipe_is_no_model(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.gguf")
    with pytest.raises(ModelLoadError, match="no regular file"):
        read_model(tmp_path / "model.gguf")


def test_a_header_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header, "HEADER_LIMIT_BYTES", 100)
    (tmp_path / "model.gguf").write_bytes(file_of(entry(b"a", TEXT, text(b"b" * 200)), entries=1))
    with pytest.raises(ModelLoadError, match="is too long"):
        read_model(tmp_path / "model.gguf")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("gguf") / "model.gguf"
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_token_list(["a", "b", "c"])
    writer.add_token_scores([0.0, -1.0, -2.0])
    writer.add_bool("llama.flag", True)
    writer.add_tensor("token_embd.weight", np.arange(64, dtype=np.float32).reshape(2, 32))
    writer.add_tensor("output_norm.weight", np.ones(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def test_a_header_says_what_was_written(whole: Path) -> None:
    model = read_model(whole)
    assert model.architecture == "llama"
    assert model.texts("tokenizer.ggml.tokens") == ["a", "b", "c"]
    assert model.metadata["tokenizer.ggml.scores"] == [0.0, -1.0, -2.0]
    assert model.metadata["llama.flag"] is True
    found = model.tensors["token_embd.weight"]
    assert (found.shape, found.kind) == ((2, 32), "F32")
    assert whole.read_bytes()[found.offset : found.offset + 8] == struct.pack("<2f", 0, 1)


@settings(max_examples=150, deadline=None)
@given(changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4), cut=st.integers(0, 800))
def test_any_damage_is_refused_or_harmless(whole: Path, changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(whole.read_bytes())
    for place, value in changes:
        data[place % len(data)] = value
    damaged = whole.with_name("damaged.gguf")
    damaged.write_bytes(data[: len(data) - cut] if cut < len(data) else b"")
    try:
        model = read_model(damaged)
    except ModelLoadError:
        return
    assert all(one.offset + one.size_bytes <= damaged.stat().st_size for one in model.tensors.values())


def split(folder: Path, number: int, names: list[str], count: int = 2) -> Path:
    file = folder / f"model-{number:05}-of-{count:05}.gguf"
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_uint16("split.count", count)
    for name in names:
        writer.add_tensor(name, np.ones(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def test_the_parts_of_a_split_model_are_one(tmp_path: Path) -> None:
    split(tmp_path, 2, ["b"])
    model = read_model(split(tmp_path, 1, ["a"]))
    assert {name: one.path.name[6:11] for name, one in model.tensors.items()} == {"a": "00001", "b": "00002"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda folder: (folder / "model-00002-of-00002.gguf").unlink(), "No such file"),
        (lambda folder: split(folder, 2, ["a"]), "'a' is in two parts"),
        (lambda folder: (folder / "model-00001-of-00002.gguf").rename(folder / "one.gguf"), "cannot be told"),
    ],
)
def test_parts_that_do_not_belong_together_are_told(change: Callable[[Path], object], why: str, tmp_path: Path) -> None:
    split(tmp_path, 2, ["b"])
    first = split(tmp_path, 1, ["a"])
    change(tmp_path)
    with pytest.raises(ModelLoadError, match=why):
        read_model(first if first.exists() else tmp_path / "one.gguf")
