"""Vectors of texts are the final hidden states that mlx-lm computes, however the passes are cut."""

import asyncio
import json
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx_lm
import numpy as np
import pytest
from tokenizers import Tokenizer, processors

from benchmarks.tiny_encoders import write_conventions
from inferlet import Context, HiddenMean, HiddenState, Logits, Sampler
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError
from tests.engine.running import Running, running
from tests.models import write_tiny_model

BEFORE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
BEHIND = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
"""Around what Qwen3-Reranker judges, as its authors write it."""
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


async def test_a_decoder_made_for_vectors_frames_texts_and_takes_its_last_token(tmp_path: Path) -> None:  # L8
    directory = write_conventions(write_tiny_model(tmp_path / "qwen3", "qwen3"), pooling="last", query="jumps ")
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.post_processor = processors.TemplateProcessing("$A <|im_end|>", "$A $B", [("<|im_end|>", 2)])
    tokenizer.save(str(directory / "tokenizer.json"))
    with running(model=str(directory)) as engine:
        found = await engine.model.embed(TEXTS, prompt_name="query")
        for text, vector, count in zip(TEXTS, found, found.token_counts, strict=True):
            tokens = [*engine.encode(f"jumps {text}"), 2]
            assert count == len(tokens)
            np.testing.assert_allclose(vector, normalised(hidden_states(directory, tokens)[-1]), atol=2e-3)
        long = await engine.model.embed(["the " * 3000], truncate=True, dimensions=8)
        assert (long.token_counts, len(long[0])) == ([511], 8)


async def test_weights_without_a_language_head_are_those_of_the_model(tmp_path: Path) -> None:
    whole = write_tiny_model(tmp_path / "whole", "qwen3")
    bare = write_tiny_model(tmp_path / "bare", "qwen3")
    weights = mx.load(str(whole / "model.safetensors"))
    kept = {name.removeprefix("model."): array for name, array in weights.items() if not name.startswith("lm_head")}
    mx.save_safetensors(str(bare / "model.safetensors"), kept, metadata={"format": "mlx"})
    with running(model=str(bare)) as engine:
        (found,) = await engine.model.embed(TEXTS[:1], normalize=False)
        wanted = hidden_states(whole, engine.encode(TEXTS[0])).mean(0)
    np.testing.assert_allclose(found, wanted, atol=2e-2)


async def test_a_model_that_judges_says_yes_or_no_of_each_document(tmp_path: Path) -> None:
    directory = write_tiny_model(tmp_path / "qwen3", "qwen3", max_position_embeddings=1024)
    yes, no = 70, 80
    modules = [{"path": "", "type": "a.Transformer"}, {"path": "1_LogitScore", "type": "a.LogitScore"}]
    (directory / "modules.json").write_text(json.dumps(modules))
    (directory / "1_LogitScore").mkdir()
    (directory / "1_LogitScore" / "config.json").write_text(json.dumps({"true_token_id": yes, "false_token_id": no}))
    with running(model=str(directory)) as engine:
        ranking = await engine.model.rerank("quick?", TEXTS, instruction="Find animals")
        model: Any = mlx_lm.load(str(directory))[0]
        for ranked in ranking:
            asked = f"<Instruct>: Find animals\n<Query>: quick?\n<Document>: {TEXTS[ranked.index]}"
            tokens = [*engine.encode(BEFORE), *engine.encode(asked), *engine.encode(BEHIND)]
            assert ranking.token_counts[ranked.index] == len(tokens)
            row = np.array(model(mx.array([tokens]))[0, -1].astype(mx.float32), np.float64)
            assert ranked.score == pytest.approx(1 / (1 + np.exp(row[no] - row[yes])), abs=2e-3)
        ended, dotted = (await engine.model.rerank("q", ["<|im_end|>", "."])).token_counts
        assert ended > dotted + 5, "a document says no special token"
        assert [one.score for one in ranking] == sorted((one.score for one in ranking), reverse=True)


async def test_any_other_model_ranks_by_its_vectors(engine: Running) -> None:
    ranking = await engine.model.rerank(TEXTS[1], TEXTS)
    assert ranking[0].index == 1
    assert ranking[0].score == pytest.approx(1, abs=1e-3)
