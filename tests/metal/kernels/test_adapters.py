"""Rows with adapters through the kernels: what MLX operations give."""

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.metal.emulator import Emulator
from pie_mlx.metal.kernels.lora_batched import group_rows, lora_batched
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher
from tests.engine.model.adapters.networks import NONE, loaded, prefill, prompt, with_adapters


@pytest.mark.parametrize("architecture", ["llama", "qwen3_moe"])
def test_additions_by_kernel_are_those_of_mlx_operations(launcher: KernelLauncher, architecture: str) -> None:
    prompts = [prompt(number, 3) for number in range(4)]
    uses = [NONE, (1, 1, 0), (2, 1, 0), (1, 1, 0)]
    found, expected = (
        prefill(with_adapters(loaded(architecture, chosen), 2), prompts, uses) for chosen in (launcher, None)
    )
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()


def test_one_kernel_serves_any_number_of_adapters(emulator: Emulator) -> None:
    for adapters in (2, 9):
        downs, ups = mx.ones((adapters, 64, 8)), mx.ones((adapters, 8, 96))
        groups, scale = group_rows([0, 1, adapters - 1]), mx.ones((adapters,))
        lora_batched(emulator_launcher(emulator), mx.ones((3, 64)), downs, ups, scale, groups)
    assert len(emulator.specialisations) == 1
