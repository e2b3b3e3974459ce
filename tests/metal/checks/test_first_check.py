"""Kernels count only where they proved right: the first check on a machine, and the record that it leaves."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pie_mlx.metal.checks.selfcheck import checked, first_cases
from pie_mlx.metal.emulator import Builder, Emulator
from pie_mlx.metal.kernel import KERNEL_FOLDER, KernelSource, read_kernel_file
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher
from pie_mlx.metal.page_pool.kernel_pool import NEEDED, KernelPool
from pie_mlx.metal.record import KernelRecord, RecordKey, kernels_digest, read_record, record_key, write_record
from tests.metal.behaviour.test_engine import loaded, story

ReadText = Callable[[str], str]


def changed(file: str, old: str, new: str) -> ReadText:
    """The kernel files with one line changed."""

    def read(name: str) -> str:
        text = read_kernel_file(name)
        if name != file:
            return text
        assert old in text
        return text.replace(old, new)

    return read


WRONG_NUMBERS = changed("lora_batched.metal", "outs[r] * scale", "outs[r]")
NOT_COMPILING = changed("paged_attention.metal", "done[0] = fence[0] + 1;", "done[0] = nothing;")


def not_launching(builder: Builder, name: str) -> KernelLauncher:
    """As a driver that refuses one kernel when it is launched."""
    launcher = emulator_launcher(Emulator(builder))

    def make(source: KernelSource) -> Callable[..., object]:
        def refuse(**launch: object) -> object:
            raise RuntimeError("[metal::Device] too many resources requested")

        return refuse if source.name == f"pie_{name}" else launcher.make(source)

    return replace(launcher, make=make)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "kernels.json"


def test_the_first_check_covers_every_kernel_once() -> None:
    kernels = [case.kernel for case in first_cases()]
    assert len(kernels) == len(set(kernels))
    assert {*NEEDED} - {"attention_merge"} <= {*kernels}  # it runs after paged_attention


def test_kernels_that_are_right_are_recorded_once(builder: Builder, path: Path) -> None:
    said: list[str] = []
    launcher = checked(emulator_launcher(Emulator(builder)), path, said.append)
    assert launcher.disabled == frozenset()
    assert read_record(path, record_key()) == KernelRecord(whole=False)
    assert checked(launcher, path, said.append).disabled == frozenset()
    assert said == ["checking the GPU kernels, once on this machine"]


@pytest.mark.parametrize("failure", ["wrong numbers", "not compiling", "not launching"])
def test_a_kernel_that_fails_is_off_with_one_warning_and_the_others_stay(
    failure: str, builder: Builder, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    backends = {
        "wrong numbers": (emulator_launcher(Emulator(builder), WRONG_NUMBERS), {"lora_batched"}, "error"),
        "not compiling": (
            emulator_launcher(Emulator(builder), NOT_COMPILING),
            {"paged_attention", "attention_merge"},
            "nothing",
        ),
        "not launching": (not_launching(builder, "page_copy"), {"page_copy"}, "too many resources"),
    }
    launcher, off, reason = backends[failure]
    with caplog.at_level(logging.WARNING):
        found = checked(launcher, path)
    assert found.disabled == off
    assert found.runs("kv_write")
    (record,) = caplog.records
    assert "MLX operations are used instead" in record.getMessage()
    assert reason in record.getMessage()
    assert "\n" not in record.getMessage()
    with caplog.at_level(logging.WARNING):
        assert checked(emulator_launcher(Emulator(builder)), path).disabled == off  # as recorded
    assert len(caplog.records) == 1


def test_an_engine_without_a_needed_kernel_computes_the_same(
    builder: Builder, launcher: KernelLauncher, path: Path
) -> None:
    degraded = loaded("llama", checked(not_launching(builder, "page_gather"), path))
    whole = loaded("llama", launcher)
    assert isinstance(whole.pool, KernelPool)
    assert not isinstance(degraded.pool, KernelPool)
    assert story(degraded) == story(whole)


def test_a_home_that_cannot_be_written_only_costs_the_next_check(builder: Builder, path: Path) -> None:
    path.parent.write_text("a file where the directory would be")
    assert checked(emulator_launcher(Emulator(builder)), path).disabled == frozenset()


def test_a_record_comes_back_as_it_was_written(path: Path) -> None:
    write_record(path, record_key(), KernelRecord(frozenset({"page_copy"}), 64), [])
    assert read_record(path, record_key()) == KernelRecord(frozenset({"page_copy"}), 64)


@pytest.mark.parametrize("part", ["mlx", "system", "device", "kernels"])
def test_a_record_of_anything_else_is_stale(part: str, path: Path) -> None:
    key = RecordKey("0.32.4", "25C56", "Apple M5", "abc")
    write_record(path, key, KernelRecord(frozenset({"page_copy"})), [])
    assert read_record(path, key) is not None
    assert read_record(path, replace(key, **{part: "another"})) is None


@pytest.mark.parametrize("content", ["", "[]", "{", "null", json.dumps({"mlx": "0.0.1", "failing": ["kv_write"]})])
def test_a_file_that_is_no_record_is_none(content: str, path: Path) -> None:
    path.parent.mkdir()
    path.write_text(content)
    assert read_record(path, record_key()) is None


@pytest.mark.parametrize("file", ["kv_write.metal", "kv_write.py"])
def test_the_digest_covers_kernels_and_their_launchers(file: str, tmp_path: Path) -> None:
    for name in ("kv_write.metal", "kv_write.py", "page_copy.metal"):
        (tmp_path / name).write_text((KERNEL_FOLDER / name).read_text())
    before = kernels_digest(tmp_path)
    (tmp_path / file).write_text((tmp_path / file).read_text() + "\n")
    assert kernels_digest(tmp_path) != before
