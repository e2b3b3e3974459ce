"""The proof a machine runs on its own kernels."""

import json
from pathlib import Path

import pytest

from pie_mlx.metal.checks.bandwidth import crossover, measured_bandwidth, measured_gather_rows
from pie_mlx.metal.checks.selfcheck import as_rows, check_kernels
from pie_mlx.metal.emulator import Builder, Emulator
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher, with_record
from pie_mlx.metal.record import KernelRecord


def test_the_table_can_be_written_as_json(builder: Builder, tmp_path: Path) -> None:
    first = next(check_kernels(emulator_launcher(Emulator(builder))))
    (row,) = json.loads(json.dumps(as_rows([first])))
    assert row["kernel"] == "kv_write"
    assert row["passed"]
    assert row["bytes_per_second"] is None


def test_a_measured_threshold_is_used(launcher: KernelLauncher) -> None:
    assert with_record(launcher, KernelRecord(gather_rows=40)).gather_rows == 40


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


def test_only_a_device_measures(launcher: KernelLauncher) -> None:
    assert measured_gather_rows(launcher, lambda: 0.0) is None
    assert measured_bandwidth("kv_write", launcher, lambda: 0.0) is None
