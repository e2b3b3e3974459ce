"""What a pass tells of hidden states is what mlx-lm's own model has after its last norm."""

from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.utils import load_model as load_peer

from benchmarks.driving import Driver, Work
from pie_mlx.engine.model.loading.load import load_model
from tests.parity.test_greedy import prompts


@pytest.mark.parametrize("architecture", ["llama", "qwen3", "mistral", "phi3", "olmo2", "gpt_oss", "falcon_h1"])
def test_hidden_states_of_a_batch_equal_mlx_lm(  # Y1
    architecture: str, tiny_model_directory: Callable[[str], Path]
) -> None:
    directory = tiny_model_directory(architecture)
    model = load_model(str(directory), name=architecture)
    model.allocate(pages=32)
    driver = Driver(model)
    texts = prompts(3)
    driver.run([Work(driver.context(), text) for text in texts])
    peer, _ = load_peer(directory)
    assert model.network.hidden is not None
    found = np.array(model.network.hidden.astype(mx.float32))
    assert found.shape == (3, model.network.hidden_size)
    for row, text in enumerate(texts):
        expected = np.array(peer.model(mx.array([text]))[0, -1].astype(mx.float32))
        np.testing.assert_allclose(found[row], expected, rtol=2e-3, atol=2e-3 * float(np.abs(expected).max()))
