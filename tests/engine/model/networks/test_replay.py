"""Drafts that recurrent layers take back: the state is that after the accepted tokens."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from benchmarks.driving import Context, Driver, Work, without_files
from benchmarks.tiny_models import tiny_model
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.metal.arrays import evaluate
from tests.engine.model.networks.test_forward import content

ARCHITECTURES = [
    "qwen3_next", "qwen3_5", "qwen3_5_moe", "lfm2", "lfm2_moe", "nemotron_h", "granitemoehybrid", "falcon_h1", "jamba",
    "mamba2", "recurrent_gemma", "rwkv7", "kimi_linear", "olmo_hybrid", "bailing_hybrid", "bailing_moe_linear",
    "bailing_moe_v3",
]  # fmt: skip
PROMPT, WINDOW = [11, 25, 3, 20, 42, 7, 7, 91, 30], [1, 9, 8, 4, 60]


def driver_of(architecture: str) -> Driver:
    mx.random.seed(1)
    model = without_files(PagedNetwork(tiny_model(architecture), architecture))
    model.allocate(pages=64)
    return Driver(model)


@pytest.fixture
def driver(tiny_model_directory: Callable[[str], Path]) -> Driver:
    model = load_model(str(tiny_model_directory("qwen3_next")), name="tiny")
    model.allocate(pages=64)
    return Driver(model)


def alike(found: np.ndarray, expected: np.ndarray) -> bool:
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected))) < 1e-4


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_contexts_go_on_after_as_many_drafts_as_were_right(architecture: str) -> None:  # V3
    driver = driver_of(architecture)
    kept = [5, 1, 3, 4, 3]
    plain = [driver.context() for _ in kept]
    driver.run([Work(each, [*PROMPT, *WINDOW[:count]]) for each, count in zip(plain, kept, strict=True)])
    drafted, fresh = [driver.context() for _ in kept[1:]], driver.context()
    driver.run([Work(each, PROMPT) for each in drafted])
    windows = [Work(each, WINDOW, drafts=4) for each in drafted]
    driver.run([*windows, Work(fresh, [*PROMPT, *WINDOW], drafts=4)])
    drafted.insert(0, fresh)
    for context, count in zip(drafted, kept, strict=True):
        driver.take_back(context, len(WINDOW) - count)
    for token in (2, 5):
        found, expected = (driver.run([Work(each, [token]) for each in all]) for all in (drafted, plain))
        assert alike(found, expected)


def test_the_drafts_of_a_pass_may_be_those_of_several_steps(driver: Driver) -> None:  # Q8
    plain, drafted = driver.context(), [driver.context() for _ in range(3)]
    expected = driver.run([Work(plain, [*PROMPT, *WINDOW[:2], 2])])
    for tokens, drafts in ((PROMPT, 0), (WINDOW[:2], 1), (WINDOW[2:4], 2), (WINDOW[4:], 1)):
        driver.run([Work(each, tokens, drafts=drafts) for each in drafted])
    for context in drafted:
        driver.take_back(context, 3)
    assert alike(driver.run([Work(each, [2]) for each in drafted]), expected)


def test_accepted_drafts_are_computed_with_their_adapters(driver: Driver) -> None:  # A1
    for number in (1, 2):
        driver.model.adapters.put((number, 0), content(driver, number))
    plain, drafted = ([driver.context() for _ in range(3)] for _ in range(2))
    for contexts, window in ((plain, WINDOW[:3]), (drafted, WINDOW)):
        step = driver.step([Work(each, [*PROMPT, *window], drafts=2) for each in contexts])
        uses = [(number, 0, 0) for number in range(3) for _ in [*PROMPT, *window]]
        driver.model.finish(driver.model.forward(replace(step, adapters=uses)))
    for context in drafted:
        driver.take_back(context, 2)
    found, expected = (driver.run([Work(each, [2]) for each in all]) for all in (drafted, plain))
    assert alike(found, expected)


def test_a_state_that_was_not_reached_is_not_gone_on_from(driver: Driver) -> None:
    context = driver.context()
    driver.run([Work(context, PROMPT)])
    with pytest.raises(RuntimeError, match="no state after 7 tokens"):
        driver.take_back(context, 2)
    context.tokens += [1, 2, 3]
    with pytest.raises(RuntimeError, match="after 10 tokens needs their state, there is one of 9 tokens"):
        driver.run([Work(context, [4])])


def test_a_mixer_that_fails_leaves_all_states_as_they_were(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:  # E4
    contexts = [driver.context() for _ in range(3)]
    driver.run([Work(each, PROMPT) for each in contexts])
    recurrence, loads = driver.model.network.recurrence, iter(range(9))
    load = recurrence.load

    def failing(group: int, cache: object) -> None:
        if next(loads) == 3:
            raise RuntimeError("no memory")
        load(group, cache)

    works = [Work(contexts[0], WINDOW, drafts=4), *(Work(each, [1]) for each in contexts[1:])]
    monkeypatch.setattr(recurrence, "load", failing)
    with pytest.raises(RuntimeError, match="no memory"):
        driver.run(works)
    monkeypatch.setattr(recurrence, "load", load)
    for context in contexts:
        del context.tokens[len(PROMPT) :]
    fresh = driver.context()
    found = driver.run([*(Work(each, [3]) for each in contexts), Work(fresh, [*PROMPT, 3])])
    assert alike(found[:3], found[3:])


def state_bytes(driver: Driver, context: Context) -> int:
    state = driver.model.network.state(context.number)
    assert state is not None
    return state.size_bytes


def held_bytes(driver: Driver, contexts: list[Context]) -> int:
    """What the memory has less when these contexts are gone."""
    evaluate(driver.model.network.recurrence.arrays())
    mx.synchronize()
    before = mx.get_active_memory()
    for context in contexts:
        driver.model.network.set_state(context.number, None)
    return before - mx.get_active_memory()


@pytest.mark.parametrize("drafts", [0, 3])
def test_a_context_that_rests_keeps_no_state_of_those_that_go_on(driver: Driver, drafts: int) -> None:
    """The row of a batch keeps all of it in memory, and so does a replay that nobody asked for yet."""
    contexts = [driver.context() for _ in range(16)]
    driver.run([Work(each, [*PROMPT, *WINDOW], drafts=drafts) for each in contexts])
    if drafts:
        for context in contexts:
            driver.take_back(context, 2)
    resting, going = contexts[:2], contexts[2:]
    driver.run([Work(each, [3]) for each in going])
    one = state_bytes(driver, resting[0])
    assert held_bytes(driver, resting) <= 4 * one  # an allocation is larger than its array
    assert 14 * one <= held_bytes(driver, going) <= 15 * one


@pytest.mark.parametrize("architecture", ["lfm2", "qwen3_next", "falcon_h1"])
def test_the_state_after_a_long_prompt_keeps_none_of_its_activations(architecture: str) -> None:
    driver = driver_of(architecture)
    context = driver.context()
    driver.run([Work(context, [5 + place % 80 for place in range(400)])])
    one = state_bytes(driver, context)
    assert held_bytes(driver, [context]) <= 2 * one


def test_a_state_of_its_own_keeps_no_neighbours(driver: Driver) -> None:
    """As those that are kept for other prompts are."""
    contexts = [driver.context() for _ in range(16)]
    driver.run([Work(each, PROMPT) for each in contexts])
    state = driver.model.network.state(contexts[3].number)
    assert state is not None
    kept = state.alone()
    del state
    assert held_bytes(driver, contexts) >= 15 * kept.size_bytes
