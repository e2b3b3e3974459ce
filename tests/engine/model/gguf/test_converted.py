"""Each file is converted once, and again when it changes."""

import json
import os
from pathlib import Path

import pytest

from pie_mlx.engine.model.gguf.converted import conversions_of, converted, write_conversion
from pie_mlx.engine.model.loading.load import load_model, loading_model
from pie_mlx.engine.models.size import expected_bytes
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import ModelLoadError
from tests.gguf_files import write_gguf
from tests.models import write_tiny_model


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("PIE_HOME", str(tmp_path / "home"))
    return {"PIE_HOME": str(tmp_path / "home")}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_gguf(write_tiny_model(tmp_path / "original", "llama"), tmp_path / "tiny.gguf", "Q8_0")


def test_a_file_is_loaded_as_a_model(file: Path, home: dict[str, str]) -> None:
    lines: list[str] = []
    model = load_model(str(file), name="tiny", progress=lines.append)
    assert model.config["quantization"]["model.embed_tokens"] == {"group_size": 32, "bits": 8, "mode": "affine"}
    assert lines[0] == "converting tiny.gguf to MLX's format, once"
    assert any(line.startswith("Q8_0 -> 8 bits, groups of 32: exact, ") for line in lines)
    assert model.eos_token_ids == (2,)


def test_a_file_is_converted_on_the_thread_of_the_device(file: Path, home: dict[str, str]) -> None:
    lines: list[str] = []
    parts = loading_model(str(file), name="tiny", progress=lines.append)
    assert [next(parts).beside, next(parts).beside] == [True, False]
    assert lines == []
    next(parts)
    assert lines[0].startswith("converting tiny.gguf")


def test_what_a_file_takes_is_told_without_converting_it(file: Path, home: dict[str, str]) -> None:
    assert expected_bytes(EngineSettings(str(file))) == file.stat().st_size
    assert not Path(home["PIE_HOME"]).exists()


def test_the_second_time_nothing_is_converted(file: Path, home: dict[str, str]) -> None:
    lines: list[str] = []
    first = converted(file, lambda _: None, home)
    assert converted(file, lines.append, home) == first
    assert lines == []


def test_a_file_that_changed_is_converted_again_and_the_old_conversion_goes(file: Path, home: dict[str, str]) -> None:
    first = converted(file, lambda _: None, home)
    os.utime(file, (1, 1))
    second = converted(file, lambda _: None, home)
    assert conversions_of(file, home) == [second]
    assert not first.exists()


def test_a_conversion_that_fails_leaves_nothing(file: Path, home: dict[str, str]) -> None:
    with file.open("r+b") as data:
        data.truncate(file.stat().st_size - 100)
    with pytest.raises(ModelLoadError, match="its header describes"):
        converted(file, lambda _: None, home)
    assert list((Path(home["PIE_HOME"]) / "models").iterdir()) == []


def test_dequantised_it_is_larger_and_has_no_groups(file: Path, home: dict[str, str], tmp_path: Path) -> None:
    choices = write_conversion(file, tmp_path / "out", dequantise=True)
    assert "quantization" not in json.loads((tmp_path / "out" / "config.json").read_text())
    assert {choice.to for choice in choices} == {"float16"}


def test_weights_come_in_files_of_some_size(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pie_mlx.engine.model.gguf.convert.SHARD_BYTES", 20_000)
    write_conversion(file, tmp_path / "out")
    assert len(list((tmp_path / "out").glob("model-*.safetensors"))) > 1
    assert load_model(str(tmp_path / "out"), name="tiny").vocabulary_size == 320
