"""Vectors of texts are the final hidden states that mlx-lm computes, however the passes are cut."""

import asyncio
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx_lm
import numpy as np
import pytest

from inferlet import Context, HiddenMean, HiddenState, Logits, Sampler
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError
from tests.engine.running import Running, running
from tests.models import write_tiny_model

TEXTS = ["One", "Two words and a few more", "A text that is long enough for several chunks " * 3]


def hidden_states(directory: Path, tokens: list[int]) -> np.ndarray:
    """What mlx-lm's own model gives its head, float64 [tokens, width]."""
    model: Any = mlx_lm.load(str(directory))[0]
    return np.array(model.model(mx.array([tokens]))[0].astype(mx.float32), np.float64)


def normalised(row: np.ndarray) -> np.ndarray:
    return row / np.linalg.norm(row)


@pytest.mark.parametrize("family", ["llama", "qwen3"])
async def test_vectors_are_those_of_mlx_lm(family: str, tmp_path: Path) -> None:  # L8
    directory = write_tiny_model(tmp_path / family, family)
    with running(model=str(directory), max_batch_tokens=16) as engine:
        mean, last = await engine.model.embed(TEXTS), await engine.model.embed(TEXTS, pooling="last", normalize=False)
        tokens = [engine.encode(text) for text in TEXTS]
        np.testing.assert_allclose(await engine.model.embed(tokens), mean, atol=2e-3)
        for text, first, second in zip(TEXTS, mean, last, strict=True):
            states = hidden_states(directory, engine.encode(text))
            np.testing.assert_allclose(first, normalised(states.mean(0)), atol=2e-3)
            np.testing.assert_allclose(second, states[-1], rtol=2e-2, atol=2e-2)


async def test_a_mean_is_that_of_the_inputs_from_its_own_on(engine: Running) -> None:  # L8
    tokens = engine.encode(TEXTS[1])
    with Context(engine.model) as context:
        forward = context.forward().input(tokens)
        part = forward.probe(2, HiddenMean())
        found = (await forward.execute()).hidden_state(part)
        assert found is not None
        rows = [await _state(engine, tokens[: end + 1]) for end in range(2, len(tokens))]
        np.testing.assert_allclose(found, np.mean(rows, axis=0), atol=1e-3)


async def _state(engine: Running, tokens: list[int]) -> list[float]:
    """That of the last token."""
    with Context(engine.model) as context:
        forward = context.forward().input(tokens)
        probe = forward.probe(len(tokens) - 1, HiddenState())
        return (await forward.execute()).hidden_state(probe) or []


async def test_vectors_and_texts_share_their_batches(engine: Running) -> None:  # L8, E1
    with Context(engine.model) as alone:
        alone.append(engine.prompt(20))
        wanted = await engine.greedy(alone, 12)
    vectors = await engine.model.embed(TEXTS)
    with Context(engine.model) as context:
        context.append(engine.prompt(20))
        drawn, beside = await asyncio.gather(engine.greedy(context, 12), engine.model.embed(TEXTS))
    assert drawn == wanted
    np.testing.assert_allclose(beside, vectors, atol=1e-4)


async def test_a_pass_that_reads_a_mean_reads_nothing_else(engine: Running) -> None:  # L8
    with Context(engine.model) as context:
        forward = context.forward().input([5, 6])
        forward.probe(0, HiddenMean())
        forward.probe(1, Logits())
        with pytest.raises(InvalidArgumentError, match="HiddenMean: the pass reads something else"):
            await forward.execute()
        again = context.forward().input([5, 6])
        again.sample([1], Sampler.argmax())
        await again.execute()


@pytest.mark.parametrize(
    ("texts", "options", "error"),
    [
        ("one", {}, InvalidTypeError),
        ([5], {}, InvalidTypeError),
        ([""], {}, InvalidArgumentError),
        (["a"], {"pooling": "max"}, InvalidArgumentError),
    ],
)
async def test_what_has_no_vector_is_refused(
    engine: Running, texts: Any, options: dict[str, Any], error: type[Exception]
) -> None:  # L8
    with pytest.raises(error, match="embed"):
        await engine.model.embed(texts, **options)
