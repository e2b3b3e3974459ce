"""An engine with an encoder makes the vectors and scores of transformers, and writes no text."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.tiny_encoders import PAIRS, POSITIONS, TEXTS, write_conventions, write_tiny_encoder
from inferlet import Context
from inferlet._calls.host import use_host
from pie_mlx.errors import ContextLengthError, InvalidArgumentError, TokenBudgetError
from tests.engine.model.encoders.reference import PATH
from tests.engine.running import Running, engine_alone, running

REFERENCE = json.loads(PATH.read_text())
QUERY, DOCUMENTS = PAIRS[0][0], [document for _, document in PAIRS]


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, atol=5e-5)


@pytest.fixture(scope="module")
def shared_encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = write_tiny_encoder(tmp_path_factory.mktemp("bert"), "bert")
    write_conventions(folder, normalises=False, query="what is ", document="the ")
    with engine_alone(model=str(folder)) as started:
        yield started


@pytest.fixture
def encoder(shared_encoder: Running) -> Iterator[Running]:
    with use_host(shared_encoder.host):
        yield shared_encoder


@pytest.mark.parametrize("kind", ["xlm-roberta", "modernbert"])
async def test_texts_become_the_vectors_of_transformers(kind: str, tmp_path: Path) -> None:
    folder = write_conventions(write_tiny_encoder(tmp_path, kind), pooling="cls")
    with running(model=str(folder)) as engine:
        found = await engine.model.embed(TEXTS, normalize=False)
        close(found, REFERENCE[kind]["cls"])
        assert found.token_counts == [len(tokens) for tokens in REFERENCE[kind]["text_ids"]]
        close(np.linalg.norm(await engine.model.embed(TEXTS), axis=1), 1)


async def test_pooling_and_length_are_those_of_the_model_unless_told(encoder: Running) -> None:
    model, wanted = encoder.model, REFERENCE["bert"]
    close(await model.embed(TEXTS), wanted["mean"])
    close(await model.embed(wanted["text_ids"], pooling="last"), wanted["last"])
    short = np.array(await model.embed(TEXTS, dimensions=8, normalize=True))
    close(short, (cut := np.array(wanted["mean"])[:, :8]) / np.linalg.norm(cut, axis=1, keepdims=True))


async def test_prompts_stand_before_texts_and_not_before_tokens(encoder: Running) -> None:
    model, text = encoder.model, "a cat"
    whole = await model.embed(["what is a cat"])
    close(await model.embed([text], prompt_name="query"), whole)
    close(await model.embed([text], prompt="what is "), whole)
    tokens = [2, *model.tokenizer().encode("what is a cat"), 3]
    close(await model.embed([tokens], prompt_name="query"), whole)
    with pytest.raises(InvalidArgumentError, match="no prompt 'task'") as refused:
        await model.embed([text], prompt_name="task")
    assert refused.value.hint == "it has query, document"


async def test_ten_thousand_texts_keep_their_order(encoder: Running) -> None:
    texts = [f"{'cat ' * (place % 5)}{place % 10}" for place in range(10_000)]
    found = np.array(await encoder.model.embed(texts))
    sample = range(0, 10_000, 997)
    close(found[sample], await encoder.model.embed([texts[place] for place in sample]))


async def test_no_text_is_no_vector(encoder: Running) -> None:
    assert await encoder.model.embed([]) == []
    assert await encoder.model.rerank(QUERY, []) == []


async def test_a_text_that_is_too_long_is_refused_or_cut(encoder: Running) -> None:
    model, long = encoder.model, "cat " * 200
    with pytest.raises(ContextLengthError, match=r"text 1 has at least .* room for 60"):
        await model.embed(["a", long])
    assert (await model.embed(["a", long], truncate=True)).token_counts == [3, POSITIONS - 2]
    close(await model.embed([long], truncate=True), await model.embed(["cat " * 60]))


@pytest.mark.parametrize("text", ["", "   ", []])
async def test_a_text_without_tokens_is_refused(encoder: Running, text: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="text 1 has no tokens"):
        await encoder.model.embed(["a", text])


async def test_documents_are_compared_with_the_prompts_of_the_model(encoder: Running) -> None:
    ranking = await encoder.model.rerank("cat", TEXTS, top_n=3)
    asked = np.array(await encoder.model.embed(["cat"], prompt_name="query", normalize=True))[0]
    scores = np.array(await encoder.model.embed(TEXTS, prompt_name="document", normalize=True)) @ asked
    assert [one.index for one in ranking] == np.argsort(-scores)[:3].tolist()
    close([one.score for one in ranking], np.sort(scores)[::-1][:3])
    assert len(ranking.token_counts) == len(TEXTS)


@pytest.mark.parametrize("kind", ["bert", "modernbert"])
async def test_a_cross_encoder_ranks_by_its_scores(kind: str, tmp_path: Path) -> None:
    squashed = 1 / (1 + np.exp(-np.array(REFERENCE[kind]["score"])[:, 0]))
    with running(model=str(write_tiny_encoder(tmp_path, kind, labels=1, seed=1))) as engine:
        ranking = await engine.model.rerank(QUERY, DOCUMENTS)
        assert engine.model.info.embedding is not None
        assert engine.model.info.embedding.reranking == "scores"
        close([one.score for one in sorted(ranking, key=lambda one: one.index)], squashed)
        with pytest.raises(InvalidArgumentError, match="cross-encoder"):
            await engine.model.embed(TEXTS)
        assert (await engine.model.rerank(QUERY, ["red " * 99], truncate=True)).token_counts == [POSITIONS - 2]
        with pytest.raises(ContextLengthError, match="text 0"):
            await engine.model.rerank(QUERY, ["red " * 99])


async def test_it_writes_no_text(encoder: Running) -> None:
    assert not encoder.model.info.generates
    with pytest.raises(InvalidArgumentError, match="writes no text"):
        Context(encoder.model)


async def test_tokens_are_paid_for_and_only_if_they_are_computed(encoder: Running) -> None:
    with encoder.process(token_budget=30):
        model = encoder.model
        with pytest.raises(TokenBudgetError):
            await model.embed(TEXTS)
        assert sum((await model.embed(TEXTS[:2])).token_counts) == 25
        with pytest.raises(TokenBudgetError):
            await model.embed(TEXTS[:1])


async def test_what_is_cancelled_leaves_no_text_waiting(encoder: Running) -> None:
    work = asyncio.ensure_future(encoder.model.embed(["the cat"] * 5000))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    close(await encoder.model.embed(TEXTS[:1]), REFERENCE["bert"]["mean"][:1])
    queue = encoder.core.services.vectors.queue
    assert queue is not None
    assert await encoder.core.consult(lambda _: queue.waiting) == 0
