"""Greedy text on the pages equals mlx-lm's own, alone and among others."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from mlx_lm.utils import load_model as load_peer

from benchmarks.architectures import reference_greedy
from benchmarks.driving import Driver
from pie_mlx.engine.model.loading.load import load_model
from tests.models import VOCABULARY

NAMED = ["llama", "qwen2", "qwen3", "gemma3", "mistral", "phi3", "olmo2", "gpt_oss", "smollm3", "deepseek_v3"]
RECURRENT = ["qwen3_next", "falcon_h1"]
TOKENS = 128
OTHERS = 16


def prompts(count: int) -> list[list[int]]:
    """Prompts of 3 to 40 tokens."""
    random = np.random.default_rng(1)
    return [random.integers(0, VOCABULARY, random.integers(3, 41)).tolist() for _ in range(count)]


@pytest.mark.parametrize("architecture", [*NAMED, *RECURRENT])
def test_greedy_text_equals_mlx_lm(architecture: str, tiny_model_directory: Callable[[str], Path]) -> None:
    directory = tiny_model_directory(architecture)
    model = load_model(str(directory), name=architecture)
    model.allocate(pages=17 * 12)
    driver = Driver(model)
    wanted, *others = prompts(1 + OTHERS)
    expected = reference(directory, wanted)
    assert driver.greedy([wanted], TOKENS) == [expected]
    together = driver.greedy([*others[:8], wanted, *others[8:]], TOKENS)
    assert together[8] == expected


def reference(directory: Path, prompt: Sequence[int]) -> list[int]:
    peer, _ = load_peer(directory)
    return reference_greedy(peer, prompt, TOKENS)
