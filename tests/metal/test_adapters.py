"""Rows with adapters through the kernels: what MLX operations give."""

import numpy as np
import pytest

from pie_mlx.metal.backend import Backend
from tests.engine.model.adapters.networks import NONE, loaded, prefill, prompt, with_adapters


@pytest.mark.parametrize("architecture", ["llama", "qwen3_moe"])
def test_additions_by_kernel_are_those_of_mlx_operations(backend: Backend, architecture: str) -> None:
    prompts = [prompt(number, 3) for number in range(4)]
    uses = [NONE, (1, 1, 0), (2, 1, 0), (1, 1, 0)]
    found, expected = (
        prefill(with_adapters(loaded(architecture, chosen), 2), prompts, uses) for chosen in (backend, None)
    )
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()
