"""The proof a machine runs on its own kernels."""

import json
from itertools import groupby
from pathlib import Path

import pytest

from pie_mlx.metal.backend import Backend, emulator_backend, off_backend
from pie_mlx.metal.check_cases import check_cases
from pie_mlx.metal.emulator import Builder, Emulator
from pie_mlx.metal.kernel import read_kernel_file
from pie_mlx.metal.selfcheck import as_rows, check_kernels, without_failing


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
    return without_failing(backend, check_kernels(backend, cases=cases), warnings.append)


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
