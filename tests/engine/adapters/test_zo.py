"""Noise and updates through the engine."""

import asyncio

import numpy as np
import pytest

from inferlet import Adapter, Context, HiddenState, Logits, Sampler, rule, zo
from inferlet.rules import Number, Row, Value, Vector
from tests.engine.adapters.test_adapters import attached, versions
from tests.engine.running import Running

SEEDS = [5, -6, 1 << 62]


def fresh(engine: Running, **options: object) -> Adapter:
    adapter = Adapter.create(engine.model, "zo")
    zo.initialize(adapter, **({"initial_sigma": 0.2, "population_size": 4} | options))  # type: ignore[arg-type]
    return adapter


async def logits(engine: Running, adapter: Adapter | None, seed: int | None, prompt: int = 20) -> np.ndarray:
    with Context(engine.model) as context:
        forward = context.forward().input(engine.prompt(prompt)).adapter(adapter).zo_seed(seed)
        handle = forward.probe(prompt - 1, Logits())
        answer = (await forward.execute()).logits(handle)
    assert answer is not None
    return np.frombuffer(answer, np.float32)


async def test_equal_seeds_equal_logits_and_others_differ(engine: Running) -> None:  # T40
    adapter = fresh(engine)
    first = [await logits(engine, adapter, seed) for seed in SEEDS]
    again = [await logits(engine, adapter, seed) for seed in SEEDS]
    for one, same in zip(first, again, strict=True):
        assert np.allclose(one, same, atol=1e-5)
    for one in range(3):
        assert not np.allclose(first[one], first[one - 1], atol=1e-2)


async def test_seed_zero_is_no_noise(engine: Running) -> None:  # T40
    adapter = fresh(engine)
    plain = await logits(engine, None, None)
    for seed in (None, 0):
        assert np.allclose(await logits(engine, adapter, seed), plain, atol=1e-4)


async def test_noise_does_not_depend_on_company(engine: Running) -> None:  # T40, Q10
    adapter = fresh(engine)
    alone = [await logits(engine, adapter, seed, prompt=9) for seed in SEEDS]
    uses = [(adapter, seed) for seed in SEEDS] + [(adapter, 0), (None, None)]
    together = await asyncio.gather(*(logits(engine, used, seed, prompt=9) for used, seed in uses))
    for one, other in zip(alone, together, strict=False):
        assert np.allclose(one, other, atol=1e-4)


async def test_pages_with_other_noise_are_not_shared(engine: Running) -> None:  # T9, K1
    adapter = fresh(engine)
    for seed, expected in ((5, 0), (5, 16), (6, 0), (0, 0), (None, 16), (-5, 0)):
        await logits(engine, adapter, seed, prompt=20)
        assert attached(engine)[-1] == expected


async def test_an_update_moves_towards_the_best(engine: Running) -> None:  # Z4
    adapter = fresh(engine, mu_fraction=0.25)
    before = await logits(engine, adapter, 0)
    winner = await logits(engine, adapter, 3)
    zo.update(adapter, [0.0, 0.0, 1.0, 0.0], [1, 2, 3, 4], 1.0)
    # One parent: the mean becomes the winner itself.
    after = await logits(engine, adapter, 0)
    assert np.allclose(after, winner, atol=1e-4)
    assert not np.allclose(after, before, atol=1e-2)


async def test_every_generation_is_a_version(engine: Running) -> None:  # A4
    adapter = fresh(engine)
    for generation in range(3):
        zo.update(adapter, [0.0, 1.0, 2.0, 3.0], [1, 2, 3, 4 + generation], 1.0)
    assert engine.core.services.adapters.find("tester", adapter.id).version == 4
    assert versions(engine) == {(adapter.id, 4)}


async def test_a_fork_evolves_on_its_own(engine: Running) -> None:  # A1
    adapter = fresh(engine)
    other = adapter.fork("other")
    before = await logits(engine, adapter, 7)
    zo.update(other, [0.0, 1.0, 2.0, 3.0], [1, 2, 3, 4], 1.0)
    assert np.allclose(await logits(engine, adapter, 7), before, atol=1e-5)
    assert not np.allclose(await logits(engine, other, 7), before, atol=1e-3)


async def test_what_evolved_can_be_saved_and_loaded(engine: Running, tmp_path_factory: pytest.TempPathFactory) -> None:
    adapter = fresh(engine)
    zo.update(adapter, [0.0, 1.0, 2.0, 3.0], [1, 2, 3, 4], 1.0)
    folder = tmp_path_factory.mktemp("saved")
    adapter.save(folder)
    again = Adapter.create(engine.model, "again")
    again.load(folder)
    assert np.allclose(await logits(engine, again, 0), await logits(engine, adapter, 0), atol=1e-5)


@rule
def _alike(row: Row, direction: Vector, least: Number) -> Value:
    return row.hidden_state.dot(direction) > least


async def test_a_rule_reads_the_hidden_state_that_noise_has_changed(engine: Running) -> None:  # L13
    adapter, prompt = fresh(engine), engine.prompt(20)

    async def hidden_state(seed: int) -> np.ndarray:
        with Context(engine.model) as context:
            forward = context.forward().input(prompt).adapter(adapter).zo_seed(seed)
            handle = forward.probe(len(prompt) - 1, HiddenState())
            return np.array((await forward.execute()).hidden_state(handle))

    async def ends(seed: int) -> bool:
        with Context(engine.model).append(prompt) as context:
            made = context.generate(
                Sampler.argmax(), max_tokens=1, stop=[], auto_flush=False, adapter=adapter, zo_seed=seed
            )
            await made.until(_alike(direction=states[0].tolist(), least=least)).collect_tokens()
            return made.finish_reason == "rule"

    states = [await hidden_state(seed) for seed in SEEDS]
    nearness = [float(state @ states[0]) for state in states]
    least = (nearness[0] + max(nearness[1:])) / 2
    assert nearness[0] > least
    assert await asyncio.gather(*map(ends, SEEDS)) == [True, False, False]
