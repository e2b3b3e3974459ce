"""Steps that are built but not committed: on tokens still being drawn, dropped without a trace when not wanted."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from pie_mlx.backends.cpu.backend import FEWEST_LAYERS
from pie_mlx.calls import SampledTokens, Sampler
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.model.runner import pipeline, sampling
from pie_mlx.engine.model.runner.batch import (
    Batch,
    BatchEntry,
    EntryResult,
    LogitsRequest,
    PackedMask,
    last_drawn,
    step_input,
)
from pie_mlx.engine.model.runner.pipeline import Pipeline
from pie_mlx.engine.model.runner.sampling import Sampling
from pie_mlx.engine.model.step import StepInput
from pie_mlx.errors import BatchFailedError, EmptyMaskError
from pie_mlx.metal import PageMemory
from tests.addresses import addresses
from tests.models import write_tiny_model

GREEDY = Sampler.argmax()
TABLES = [[0, 1, 2, 3], [9, 4, 7, 12]]
"""Neighbouring pages, which are read where they lie, and scattered ones, which are mirrored."""


class Wanting:
    """So many steps of so many rows; `stuck` when a grammar cannot tell what comes after the last of them. The last
    `later` of them are for a later batch."""

    def __init__(self, rows: int, steps: int, *, stuck: bool = False, later: int = 0) -> None:
        self.rows, self.left, self.stuck, self.later = rows, steps, stuck, later

    def advance(self, drawn: Sequence[int]) -> bool:
        self.left -= 1
        return self.left > 0 or self.stuck

    def pauses(self) -> bool:
        return self.left <= self.later

    def masks(self) -> list[PackedMask | None]:
        if self.left <= 0:
            raise EmptyMaskError("nothing is allowed")
        return [None] * self.rows


@pytest.fixture(scope="module", params=[2, FEWEST_LAYERS], ids=["shallow", "deep"])
def directory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, whose steps begin after one another, or while the one before is still computed."""
    return write_tiny_model(tmp_path_factory.mktemp("model"), "llama", num_hidden_layers=request.param)


@pytest.fixture
def model(directory: Path, monkeypatch: pytest.MonkeyPatch) -> LoadedModel:
    monkeypatch.setattr(pipeline, "LONGEST_SECONDS", 60.0)
    loaded = load_model(str(directory), name="tiny")
    loaded.allocate(pages=16)
    return loaded


def entry(context: int, tokens: Sequence[int], held: int, further: int = 0, sampler: Sampler = GREEDY) -> BatchEntry:
    """`tokens` after `held` slots of a context, and one draw."""
    slots = [TABLES[context][slot // 16] * 16 + slot % 16 for slot in range(held, held + len(tokens) + further)]
    return BatchEntry(
        context=context,
        tokens=tokens,
        positions=range(held, held + len(tokens)),
        slots=slots[: len(tokens)],
        block_table=TABLES[context],
        kv_length=held + len(tokens),
        reads=(LogitsRequest(len(tokens) - 1, sampler, stream=context, counter=held + len(tokens)),),
        further_slots=slots[len(tokens) :],
    )


def go_on(
    model: LoadedModel, entries: Sequence[BatchEntry], steps: int, *, stuck: bool = False, wanted: int = 0
) -> list[list[int]]:
    """What each of `entries` draws in so many steps at once, of those that are `wanted`."""
    wanting, further = Wanting(len(entries), wanted or steps, stuck=stuck), len(entries[0].further_slots)
    batch = Batch(tuple(entries), continuation=wanting, further=further)
    outcome = Pipeline(model).compute(batch, lambda: True)
    assert outcome.steps == steps
    return [tokens_of(result) for result in outcome.results]


def tokens_of(result: EntryResult) -> list[int]:
    assert not isinstance(result, BatchFailedError)
    (drawn,) = result
    assert isinstance(drawn, SampledTokens)
    return drawn.tokens


def one_by_one(model: LoadedModel, entries: Sequence[BatchEntry], steps: int) -> list[list[int]]:
    drawn: list[list[int]] = [[] for _ in entries]
    for _ in range(steps):
        step, reads, _ = step_input(entries)
        reading = Sampling(model.forward(step), reads)
        model.finish(*reading.outputs)
        for tokens, result in zip(drawn, reading.collect(), strict=True):
            tokens += last_drawn(result)
        entries = [followed(each, tokens[-1:]) for each, tokens in zip(entries, drawn, strict=True)]
    return drawn


def followed(before: BatchEntry, tokens: Sequence[int]) -> BatchEntry:
    """`tokens` after another entry, with the same draw."""
    sampler = before.reads[0].read
    assert isinstance(sampler, Sampler)
    return entry(before.context, tokens, before.kv_length, sampler=sampler)


def prompts(further: int = 0) -> list[BatchEntry]:
    return [entry(0, range(5, 25), 0, further), entry(1, range(40, 53), 0, further)]


def after(drawn: Sequence[Sequence[int]], further: int = 0) -> list[BatchEntry]:
    """The prompts' next step when all of `drawn` but the last token is in KV."""
    pairs = zip(prompts(), drawn, strict=True)
    return [entry(each.context, tokens[-1:], each.kv_length + len(tokens) - 1, further) for each, tokens in pairs]


def joined(first: Sequence[list[int]], second: Sequence[list[int]]) -> list[list[int]]:
    return [left + right for left, right in zip(first, second, strict=True)]


def test_steps_at_once_draw_what_single_steps_draw(model: LoadedModel) -> None:  # G11
    expected = one_by_one(model, prompts(), 20)
    assert go_on(model, prompts(further=30), 20) == expected


def test_steps_that_pause_for_another_model_leave_the_next_one_in_flight(model: LoadedModel) -> None:
    expected = one_by_one(model, prompts(), 8)
    pipeline = Pipeline(model)
    batch = Batch(tuple(prompts(further=30)), continuation=Wanting(2, 8, later=3), further=30)
    outcome = pipeline.compute(batch, lambda: True)
    assert (outcome.steps, len(outcome.in_flight)) == (5, 2)
    drawn = [tokens_of(result) for result in outcome.results]
    claiming = Batch(tuple(after(drawn, further=2)), continuation=Wanting(2, 3), further=2, claims=True)
    rest = pipeline.compute(claiming, lambda: True)
    assert joined(drawn, [tokens_of(result) for result in rest.results]) == expected


def test_a_step_in_flight_takes_no_time_while_the_device_does_other_work(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    pipeline = Pipeline(model)
    batch = Batch(tuple(prompts(further=30)), continuation=Wanting(2, 8, later=3), further=30)
    drawn = [tokens_of(result) for result in pipeline.compute(batch, lambda: True).results]
    pipeline.begin()
    now = 9.0
    claimed = pipeline.compute(Batch(tuple(after(drawn)), claims=True), lambda: True, free_since=7.0)
    assert claimed.seconds == 2.0


@pytest.mark.parametrize("stuck", [False, True])
def test_a_step_that_was_built_and_is_not_wanted_leaves_no_trace(model: LoadedModel, stuck: bool) -> None:  # E1, G13
    expected = one_by_one(model, prompts(), 20)
    before = addresses(model.pool.arrays())
    drawn = go_on(model, prompts(further=30), 5, stuck=stuck)
    assert addresses(model.pool.arrays()) == before
    drawn = joined(drawn, go_on(model, after(drawn, further=20), 7))
    assert joined(drawn, one_by_one(model, after(drawn), 8)) == expected


def test_a_token_that_is_drawn_again_takes_along_what_was_begun_on_another(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:  # L2
    monkeypatch.setattr(sampling, "CANDIDATES", 2)
    sampler, before = Sampler.top_p(1.0, 0.9), addresses(model.pool.arrays())
    expected = one_by_one(model, [entry(0, range(5, 25), 0, sampler=sampler)], 20)
    assert go_on(model, [entry(0, range(5, 25), 0, 30, sampler=sampler)], 20) == expected
    assert addresses(model.pool.arrays()) == before


def test_the_first_layers_of_a_step_begin_while_the_one_before_is_computed(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: list[str] = []
    begin, collect = model.begin, Sampling.collect

    def begun(*outputs: mx.array, **options: Any) -> None:
        evaluated.append("layers" if outputs[0].ndim > 2 else "step")
        begin(*outputs, **options)

    def collected(reading: Sampling) -> list[EntryResult]:
        evaluated.append("tokens")
        return collect(reading)

    monkeypatch.setattr(model, "begin", begun)
    monkeypatch.setattr(Sampling, "collect", collected)
    go_on(model, [entry(0, range(5, 25), 0, 12)], 2)
    early = ["layers"] if len(model.layers) == FEWEST_LAYERS else []
    assert evaluated == ["step", *early, "tokens"] * 2


def test_steps_at_once_leave_the_pool_where_it_is(model: LoadedModel) -> None:
    before = addresses(model.pool.arrays())
    for steps in (1, 9, 4):
        go_on(model, prompts(further=12), steps)
        assert addresses(model.pool.arrays()) == before


def test_a_step_after_one_that_was_not_wanted_writes_the_pool_in_place(model: LoadedModel) -> None:
    before = addresses(model.pool.arrays())
    ((*_, last),) = go_on(model, [entry(0, range(5, 25), 0, 30)], 5)
    one_by_one(model, [entry(0, [last], 24)], 1)
    assert addresses(model.pool.arrays()) == before


def test_the_next_step_is_built_while_one_is_computed(model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    forward, follow = model.forward, model.follow
    monkeypatch.setattr(model, "forward", lambda step: built.append("after a committed step") or forward(step))
    monkeypatch.setattr(model, "follow", lambda step: built.append("on tokens being drawn") or follow(step))
    go_on(model, [entry(0, range(5, 25), 0, 12)], 9)
    assert built == ["after a committed step"] + ["on tokens being drawn"] * 9


def test_a_next_step_that_cannot_be_built_is_no_failure_of_this_one(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:  # E4
    expected = one_by_one(model, prompts(), 3)
    network = model.network
    forward = network.forward

    def failing(step: StepInput, memory: PageMemory) -> mx.array:
        if isinstance(step.tokens, mx.array):
            raise MemoryError("out of memory")
        return forward(step, memory)

    monkeypatch.setattr(network, "forward", failing)
    assert go_on(model, prompts(further=30), 3) == expected


def test_a_step_that_fails_takes_the_one_after_it_along(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:  # E4
    expected = one_by_one(model, prompts(), 3)
    collect = Sampling.collect

    def failing(reading: Sampling) -> list[EntryResult]:
        monkeypatch.setattr(Sampling, "collect", collect)
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Sampling, "collect", failing)
    with pytest.raises(RuntimeError, match="out of memory"):
        go_on(model, prompts(further=30), 3)
    assert go_on(model, prompts(further=30), 3) == expected


def test_a_later_step_that_fails_leaves_nothing_to_be_written_later(
    model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:  # E4
    expected, recovered = one_by_one(model, prompts(), 3), list[bool]()
    collect, steps = Sampling.collect, iter([True, True, False])

    def failing(reading: Sampling) -> list[EntryResult]:
        if next(steps, True):
            return collect(reading)
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Sampling, "collect", failing)
    monkeypatch.setattr(model, "recover", lambda: recovered.append(True))
    drawn = go_on(model, prompts(further=30), 2, wanted=5)
    assert recovered == [True]
    assert drawn == [text[:2] for text in expected]
