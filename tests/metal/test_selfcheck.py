"""The proof a machine runs on its own kernels."""

import json
from itertools import groupby
from pathlib import Path

import pytest

from pie_mlx.metal.backend import GATHER_ROWS, Backend, emulator_backend, off_backend, with_record
from pie_mlx.metal.bandwidth import crossover, measured_bandwidth, measured_gather_rows
from pie_mlx.metal.check_cases import check_cases
from pie_mlx.metal.emulator import Builder, Emulator
from pie_mlx.metal.kernel import read_kernel_file
from pie_mlx.metal.record import KernelRecord, read_record, record_file, write_record
from pie_mlx.metal.selfcheck import as_rows, check_kernels, record_of


def broken(name: str) -> str:
    """Kernel files in which one kernel scales wrongly and one does not compile."""
    text = read_kernel_file(name)
    if name == "lora_batched.metal":
        return text.replace("outs[r] * scale", "outs[r]")
    if name == "paged_attention.metal":
        return text.replace("done[0] = fence[0] + 1;", "done[0] = nothing;")
    return text


@pytest.fixture(scope="module")
def warnings() -> list[str]:
    return []


@pytest.fixture(scope="module")
def degraded(builder: Builder, warnings: list[str]) -> Backend:
    backend = emulator_backend(Emulator(builder), broken)
    cases = [next(group) for _, group in groupby(check_cases(), key=lambda case: case.kernel)]
    return with_record(backend, record_of(check_kernels(backend, cases=cases), warnings.append))


def test_a_failing_kernel_is_disabled_and_the_others_stay(degraded: Backend) -> None:
    assert degraded.disabled == {"lora_batched", "paged_attention", "attention_merge"}
    assert not degraded.runs("paged_attention")
    assert degraded.runs("kv_write")


def test_the_warning_says_which_kernel_and_why(degraded: Backend, warnings: list[str]) -> None:
    assert any("lora_batched is off" in text and "error" in text for text in warnings)
    assert any("paged_attention is off" in text and "nothing" in text for text in warnings)
    assert len(warnings) == 2


def test_nothing_is_checked_when_kernels_are_off() -> None:
    assert as_rows(check_kernels(off_backend())) == []


def test_the_table_can_be_written_as_json(builder: Builder, tmp_path: Path) -> None:
    first = next(check_kernels(emulator_backend(Emulator(builder))))
    (row,) = json.loads(json.dumps(as_rows([first])))
    assert row["kernel"] == "kv_write"
    assert row["passed"]
    assert row["bytes_per_second"] is None


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = record_file({"PIE_HOME": str(tmp_path / "home")})
    write_record(path, KernelRecord(frozenset({"page_copy"}), 64), [])
    assert read_record(path) == KernelRecord(frozenset({"page_copy"}), 64)


@pytest.mark.parametrize("content", ["", "[]", '{"mlx": "0.0.1", "failing": ["kv_write"], "gather_rows": 1}', "{"])
def test_a_record_of_another_version_or_none_changes_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "kernels.json").write_text(content)
    assert read_record(tmp_path / "kernels.json") == KernelRecord()
    assert with_record(off_backend(), KernelRecord()).gather_rows == GATHER_ROWS


def test_a_measured_threshold_is_used() -> None:
    assert with_record(off_backend(), KernelRecord(gather_rows=40)).gather_rows == 40


@pytest.mark.parametrize(
    ("tiled", "gathered", "threshold"),
    [
        ([1, 2, 4], [3, 3, 3], 30),
        ([1, 2, 4], [0.5, 0.5, 3], 10),
        ([1, 2, 3], [0, 9, 9], 31),
        ([1, 4, 4], [3, 3, 3], 20),
    ],
)
def test_gathering_starts_where_it_wins_for_good(tiled: list[float], gathered: list[float], threshold: int) -> None:
    assert crossover((10, 20, 30), tiled, gathered) == threshold


def test_only_a_device_measures(backend: Backend) -> None:
    assert measured_gather_rows(backend, lambda: 0.0) is None
    assert measured_bandwidth("kv_write", backend, lambda: 0.0) is None
