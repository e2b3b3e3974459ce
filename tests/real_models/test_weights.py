"""Converted weights mean what the file's do, and are computed as mlx-lm computes them."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.utils import dequantize_model
from mlx_lm.utils import load_model as load_peer

from benchmarks.architectures import reference_greedy
from benchmarks.driving import Driver
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.model.loading.vocabulary import load_tokenizer
from tests.docs.pages import ROOT
from tests.real_models.conftest import FILES, RealModels

pytestmark = pytest.mark.timeout(1800)
TEXT = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
QUESTIONS = ["The capital of France is", "def fibonacci(n):\n", "Once upon a time there was a fox who"]


def peer_of(directory: Path, dtype: mx.Dtype = mx.float32) -> Any:
    model, _ = load_peer(directory)
    model.set_dtype(dtype)
    return model


def perplexity(directory: Path, tokens: int) -> float:
    ids = load_tokenizer(directory).encode(TEXT)[:tokens]
    model = dequantize_model(peer_of(directory))  # a CPU takes a quarter of an hour for products with five bits
    logits = model(mx.array([ids]))[0, :-1]
    chosen = mx.take_along_axis(logits, mx.array(ids[1:])[:, None], axis=-1)[:, 0]
    return float(mx.exp((mx.logsumexp(logits, axis=-1) - chosen).mean()).item())


@pytest.mark.parametrize("name", FILES)
def test_groups_of_mlx_cost_less_than_a_hundredth_of_perplexity(name: str, models: RealModels) -> None:
    before, after = (perplexity(models.directory(name, dequantise=one), 192) for one in (True, False))
    print(f"{name}: perplexity {before:.3f} dequantised, {after:.3f} in groups")
    assert abs(after / before - 1) < 0.01
    assert before < 100


@pytest.mark.parametrize("name", FILES)
def test_greedy_text_in_groups_equals_mlx_lm_alone_and_together(name: str, models: RealModels) -> None:
    directory = models.directory(name)
    tokenizer, peer = load_tokenizer(directory), peer_of(directory)
    prompts = [tokenizer.encode(question) for question in QUESTIONS]
    expected = [reference_greedy(peer, prompt, 8) for prompt in prompts]
    model = load_model(str(directory), name=name)
    model.allocate(pages=64)
    driver = Driver(model)
    assert driver.greedy(prompts, 8) == expected
    assert driver.greedy(prompts[:1], 8) == expected[:1]


def test_greedy_text_in_float16_equals_mlx_lm(models: RealModels) -> None:
    directory = models.directory("smollm2", dequantise=True)
    prompt = load_tokenizer(directory).encode(QUESTIONS[0])
    expected = reference_greedy(peer_of(directory, mx.float16), prompt, 8)
    model = load_model(str(directory), name="smollm2", dtype="float16")
    model.allocate(pages=16)
    assert Driver(model).greedy([prompt], 8) == [expected]


def test_a_prompt_longer_than_the_window_is_read_as_mlx_lm_reads_it(models: RealModels) -> None:
    directory = models.directory("gemma3")
    prompt = load_tokenizer(directory).encode(TEXT)[:600]  # the window is 512
    expected = reference_greedy(peer_of(directory), prompt, 6)
    model = load_model(str(directory), name="gemma3")
    model.allocate(pages=64)
    assert Driver(model).greedy([prompt], 6) == [expected]
