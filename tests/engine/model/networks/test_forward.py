"""One forward pass: positions, masks, wanted rows, recurrent states."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from benchmarks.driving import Context, Driver, Work
from pie_mlx.engine.model.adapters.content import AdapterContent, LowRank
from pie_mlx.engine.model.adapters.targets import Target
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.model.step import StepInput

TOKENS = [11, 25, 3, 200, 42, 7, 7, 91, 130]


@pytest.fixture
def start(tiny_model_directory: Callable[[str], Path]) -> Callable[[str], Driver]:
    def started(architecture: str) -> Driver:
        model = load_model(str(tiny_model_directory(architecture)), name="tiny")
        model.allocate(pages=64)
        return Driver(model)

    return started


def relative_error(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def test_rotary_positions_are_relative(start: Callable[[str], Driver]) -> None:  # F4
    driver = start("llama")
    plain = driver.run([Work(driver.context(), TOKENS)])
    shifted = driver.run([Work(driver.context(), TOKENS, positions=range(300, 300 + len(TOKENS)))])
    assert relative_error(shifted, plain) < 1e-4
    stretched = driver.run([Work(driver.context(), TOKENS, positions=range(0, 2 * len(TOKENS), 2))])
    assert relative_error(stretched, plain) > 1e-2


def test_a_draft_tree_is_two_continuations_in_one_pass(start: Callable[[str], Driver]) -> None:  # F7
    driver = start("qwen3")
    left, right, tree = driver.context(), driver.context(), driver.context()
    expected = driver.run([Work(left, [*TOKENS, 5, 6]), Work(right, [*TOKENS, 8, 9])])
    driver.run([Work(tree, TOKENS)])
    n = len(TOKENS)
    masks = [[0, n + 1], [0, n + 2], [0, n, 2, 1], [0, n, 2, 2]]
    step = driver.step([Work(tree, [5, 6, 8, 9], positions=[n, n + 1, n, n + 1], masks=masks)])
    logits = driver.model.forward(StepInput(step.tokens, step.positions, step.slots, step.segments, [1, 3]))
    driver.model.finish(logits)
    assert relative_error(np.array(logits), expected) < 1e-5


def test_wanted_rows_come_in_the_order_asked(start: Callable[[str], Driver]) -> None:
    driver = start("llama")
    work = [Work(driver.context(), TOKENS), Work(driver.context(), [5]), Work(driver.context(), TOKENS[:4])]
    step = driver.step(work)
    rows = [12, 0, 9, 8, 0]
    logits = driver.model.forward(StepInput(step.tokens, step.positions, step.slots, step.segments, rows))
    driver.model.finish(logits)
    separate = [TOKENS[:3], TOKENS[:1], [5], TOKENS, TOKENS[:1]]
    expected = [driver.run([Work(driver.context(), tokens)])[0] for tokens in separate]
    assert relative_error(np.array(logits), np.stack(expected)) < 1e-5


@pytest.mark.parametrize("architecture", ["llama", "deepseek_v3", "falcon_h1"])
def test_a_pass_may_want_no_logits(architecture: str, start: Callable[[str], Driver]) -> None:  # F2
    driver = start(architecture)
    quiet, plain = driver.context(), driver.context()
    step = driver.step([Work(quiet, TOKENS)])
    logits = driver.model.forward(StepInput(step.tokens, step.positions, step.slots, step.segments, []))
    driver.model.finish(logits)
    assert logits.shape == (0, driver.model.vocabulary_size)
    driver.run([Work(plain, TOKENS)])
    a, b = driver.run([Work(quiet, [4]), Work(plain, [4])])
    assert relative_error(a, b) < 1e-5


@pytest.mark.parametrize("architecture", ["falcon_h1", "qwen3_next"])
def test_a_fork_goes_on_from_the_recurrent_state_of_its_source(
    architecture: str, start: Callable[[str], Driver]
) -> None:
    driver = start(architecture)
    source = driver.context()
    driver.run([Work(source, TOKENS)])
    child = driver.fork(source)
    logits = driver.run([Work(source, [1]), Work(child, [2])])
    logits = driver.run([Work(child, [3]), Work(source, [3])])
    expected = [driver.run([Work(driver.context(), [*TOKENS, token, 3])])[0] for token in (2, 1)]
    assert relative_error(logits, np.stack(expected)) < 1e-5


def test_a_context_that_begins_again_forgets_its_state(start: Callable[[str], Driver]) -> None:
    driver = start("falcon_h1")
    first = driver.run([Work(driver.context(), TOKENS)])
    context = Context(77)
    driver.run([Work(context, TOKENS[:5])])
    context.tokens.clear()
    assert relative_error(driver.run([Work(context, TOKENS)]), first) < 1e-5


def test_a_failed_step_leaves_recurrent_states_as_they_were(start: Callable[[str], Driver]) -> None:  # E4
    driver = start("falcon_h1")
    context, twin = driver.context(), driver.context()
    driver.run([Work(context, TOKENS), Work(twin, TOKENS)])
    driver.model.forward(driver.step([Work(context, [9, 9])]))
    del context.tokens[-2:]
    a, b = driver.run([Work(context, [4]), Work(twin, [4])])
    assert relative_error(a, b) < 1e-5


@pytest.mark.parametrize("architecture", ["falcon_h1", "baichuan_m1"])
def test_a_pass_after_other_tokens_than_the_state_is_of_is_no_pass(
    architecture: str, start: Callable[[str], Driver]
) -> None:  # P16
    driver = start(architecture)
    context = driver.context()
    driver.run([Work(context, TOKENS)])
    del context.tokens[-1:]
    with pytest.raises(RuntimeError, match="after 8 tokens needs their state, there is one of 9 tokens"):
        driver.run([Work(context, [4])])


def test_masks_make_no_context_begin_again_that_recurrent_layers_remember(start: Callable[[str], Driver]) -> None:  # F8
    model = start("falcon_h1").model
    assert model.trimmed_page_size is None


@pytest.mark.parametrize("architecture", ["qwen3_next", "recurrent_gemma", "rwkv7"])
def test_recurrent_contexts_of_any_length_are_token_rows_of_one_pass(
    architecture: str, start: Callable[[str], Driver]
) -> None:
    driver = start(architecture)
    alone = [driver.run([Work(driver.context(), tokens)])[0] for tokens in ([*TOKENS, 1], [*TOKENS, 2], TOKENS, [5])]
    first, second = driver.context(), driver.context()
    driver.run([Work(first, TOKENS), Work(second, TOKENS[:4])])
    works = [Work(first, [1]), Work(second, [*TOKENS[4:], 2]), Work(driver.context(), TOKENS)]
    together = driver.run([*works, Work(driver.context(), [5])])
    assert relative_error(together, np.stack(alone)) < 1e-5
    assert driver.model.tier == "paged tokens"


def test_rows_of_recurrent_layers_have_their_own_adapters(start: Callable[[str], Driver]) -> None:
    driver = start("qwen3_next")
    for number in (1, 2):
        driver.model.adapters.put((number, 0), content(driver, number))
    lengths, adapters = (9, 1, 1, 9, 4), (1, 2, 0, 2, 1)
    alone = [adapted(driver, [TOKENS[:length]], [number])[0] for length, number in zip(lengths, adapters, strict=True)]
    together = adapted(driver, [TOKENS[:length] for length in lengths], adapters)
    assert relative_error(together, np.stack(alone)) < 1e-5
    assert relative_error(alone[0], driver.run([Work(driver.context(), TOKENS)])[0]) > 1e-2


def content(driver: Driver, seed: int) -> AdapterContent:
    """An adapter on every projection of the model."""
    random = np.random.default_rng(seed)

    def pair(target: Target) -> LowRank:
        down, up = (mx.array(random.normal(size=shape)) for shape in (target.down_shape(2), target.up_shape(2)))
        return LowRank(down, up, 0.5)

    return AdapterContent({path: pair(target) for path, target in driver.model.adapters.targets.items()})


def adapted(driver: Driver, prompts: Sequence[Sequence[int]], adapters: Sequence[int]) -> np.ndarray:
    """The last logits of prompts of which each has its own adapter, in one step."""
    step = driver.step([Work(driver.context(), prompt) for prompt in prompts])
    uses = [(number, 0, 0) for prompt, number in zip(prompts, adapters, strict=True) for _ in prompt]
    logits = driver.model.forward(replace(step, adapters=uses))
    driver.model.finish(logits)
    return np.array(logits)
