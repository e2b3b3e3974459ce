"""The attention that pages get is that of the model's own attention, in float64, however the pass is cut."""

import sys
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx_lm
import numpy as np
import pytest

from inferlet import AttentionScores, Context, Logprob, Sampler
from pie_mlx.errors import InvalidArgumentError
from tests.engine.running import Running, running, small_prompt
from tests.models import write_tiny_model

ROWS, PAGE_SIZE = 8, 16


def direct_scores(directory: Path, tokens: list[int], rows: int, patch: pytest.MonkeyPatch) -> np.ndarray:
    """Of the last rows of mlx-lm's own model, [KV heads of all layers, pages]."""
    model: Any = mlx_lm.load(str(directory))[0]
    found: list[np.ndarray] = []
    module = sys.modules[type(model).__module__]
    attention = vars(module)["scaled_dot_product_attention"]

    def recording(queries: Any, keys: Any, values: Any, cache: Any, scale: float, mask: Any, **options: Any) -> Any:
        own, of = (np.array(each[0].astype(mx.float32), np.float64) for each in (queries, keys))
        scores = own.reshape(of.shape[0], -1, *own.shape[1:]) @ of[:, None].swapaxes(-1, -2) * scale
        seen = np.tril(np.ones(scores.shape[-2:], bool)) if mask is None or mask == "causal" else np.array(mask)
        scores = np.where(seen, scores, -np.inf)
        sinks = options.get("sinks")
        sink = np.full(own.shape[0], -np.inf) if sinks is None else np.array(sinks.astype(mx.float32), np.float64)
        sink = np.broadcast_to(sink.reshape(of.shape[0], -1, 1, 1), (*scores.shape[:-1], 1))
        weights = np.exp(scores - np.maximum(scores.max(-1, keepdims=True), sink))
        weights /= weights.sum(-1, keepdims=True) + np.exp(sink - np.maximum(scores.max(-1, keepdims=True), sink))
        padded = np.pad(weights, ((0, 0), (0, 0), (0, 0), (0, -weights.shape[-1] % PAGE_SIZE)))
        found.append(padded.reshape(*weights.shape[:3], -1, PAGE_SIZE).sum(-1)[:, :, -rows:].sum(2).mean(1))
        return attention(queries, keys, values, cache=cache, scale=scale, mask=mask, **options)

    with patch.context() as patched:
        patched.setattr(module, "scaled_dot_product_attention", recording)
        mx.eval(model(mx.array([tokens])))
    return np.concatenate(found)


@pytest.mark.parametrize("family", ["llama", "gpt_oss", "qwen3_next"])  # plain, windows with sinks, recurrent layers
async def test_scores_are_those_of_the_models_attention(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # L10
    directory, tokens = write_tiny_model(tmp_path / family, family), small_prompt(45)
    expected = direct_scores(directory, tokens, ROWS, monkeypatch)
    decoded = direct_scores(directory, [*tokens, 50], 1, monkeypatch)
    with running(model=str(directory), max_batch_tokens=20) as engine, Context(engine.model) as context:
        assert engine.model.info.attention_groups == len(expected)
        forward = context.forward().input(tokens)
        handle = forward.probe(len(tokens) - 1, AttentionScores(rows=ROWS, by_group=True))
        found = np.array((await forward.execute()).attention_scores(handle))
        np.testing.assert_allclose(found, expected, atol=2e-3 * ROWS)
        forward = context.forward().input([50])
        handle = forward.probe(0, AttentionScores())
        (mean,) = (await forward.execute()).attention_scores(handle) or []
        np.testing.assert_allclose(mean, decoded.mean(0), atol=2e-3)


async def test_reading_attention_changes_nothing_else(engine: Running) -> None:  # L10
    wanted, drawn = list[int](), list[int]()
    with Context(engine.model) as plain:
        async for step in plain.append(engine.prompt(40, 71)).generate(Sampler.argmax(), max_tokens=8):
            wanted += (await step.execute()).tokens
    with Context(engine.model) as context:
        generator = context.append(engine.prompt(40, 71)).generate(Sampler.argmax(), max_tokens=8)
        generator.disable_system_speculation()
        async for step in generator:
            probe = step.probe(-1, AttentionScores()) if len(drawn) % 2 else None  # in between, steps begin early
            output = await step.execute()
            drawn += output.tokens
            if probe is not None:
                (scores,) = output.attention_scores(probe) or []
                assert len(scores) == -(-context.seq_len // PAGE_SIZE)
                assert sum(scores) == pytest.approx(1, abs=1e-4)
    assert drawn == wanted


async def test_pages_are_those_of_the_context_though_some_are_hidden(engine: Running) -> None:  # L10, F8
    with Context(engine.model) as context:
        await context.append(engine.prompt(70, 72)).flush()
        forward = context.forward().input([5]).attention_mask([[0, 16, 32, 23]])
        handle = forward.probe(0, AttentionScores())
        (scores,) = (await forward.execute()).attention_scores(handle) or []
    assert len(scores) == 5
    assert [score > 0 for score in scores] == [True, False, False, True, True]
    assert sum(scores) == pytest.approx(1, abs=1e-4)


async def test_inputs_whose_attention_is_read_are_computed_again(engine: Running) -> None:  # L10, K5
    tokens, found = engine.prompt(64, 73), list[np.ndarray]()
    for _ in range(2):
        with Context(engine.model) as context:
            forward = context.forward().input(tokens)
            handle, other = forward.probe(60, AttentionScores(rows=30)), forward.probe(63, Logprob(7))
            output = await forward.execute()
            assert output.logprobs(other)
            found.append(np.array(output.attention_scores(handle)))
    np.testing.assert_allclose(found[1], found[0], atol=1e-3)
    assert found[0].sum() == pytest.approx(30, rel=1e-3)


@pytest.mark.parametrize(
    ("probes", "message"),
    [
        ([(3, AttentionScores(rows=5))], "AttentionScores: 5 rows up to input 3"),
        ([(3, AttentionScores(rows=0))], "AttentionScores: 0 rows"),
        ([(99, AttentionScores(rows=65))], "AttentionScores: 65 rows"),
        ([(3, AttentionScores()), (4, AttentionScores())], "reads them twice"),
    ],
)
async def test_scores_of_other_rows_are_refused(
    engine: Running, probes: list[tuple[int, AttentionScores]], message: str
) -> None:  # L10
    with Context(engine.model) as context:
        forward = context.forward().input(engine.prompt(100))
        for index, probe in probes:
            forward.probe(index, probe)
        with pytest.raises(InvalidArgumentError, match=message):
            await forward.execute()


async def test_a_model_that_attends_by_itself_tells_nothing(tmp_path: Path) -> None:  # L10
    with running(model=str(write_tiny_model(tmp_path / "model", "plamo")), max_batch_tokens=32) as engine:
        assert not engine.model.info.attention_groups
        with Context(engine.model) as context:
            forward = context.forward().input([5])
            forward.probe(0, AttentionScores())
            with pytest.raises(InvalidArgumentError, match="computes its attention itself"):
                await forward.execute()
