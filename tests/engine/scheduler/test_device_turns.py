"""The device between models."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.engine.scheduler.device_turns import LARGEST_RATIO, TURN_SECONDS, DeviceTurns

STEP_SECONDS = TURN_SECONDS / 8


@dataclass(slots=True)
class Device:
    """Computes for models that work at once. `seconds` is what each has had of it, `order` whose batches it did."""

    now: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    order: list[str] = field(default_factory=list[str])
    longest_waits: dict[str, float] = field(default_factory=dict[str, float])
    turns: DeviceTurns = field(init=False)

    def __post_init__(self) -> None:
        self.turns = DeviceTurns(lambda: self.now)

    async def work(
        self, model: str, worth: float | None, batch_seconds: float, until: float, *, rests: bool = False
    ) -> None:
        """Batch after batch. If it `rests`, it has nothing to compute for a moment after each."""
        while self.now < until:
            asked = self.now
            await self.turns.take(model, worth)
            self.longest_waits[model] = max(self.longest_waits.get(model, 0.0), self.now - asked)
            self.order.append(model)
            self.now += batch_seconds
            self.seconds[model] = self.seconds.get(model, 0.0) + batch_seconds
            if rests:
                self.turns.give(model)
            await asyncio.sleep(0)
        self.turns.leave(model)


async def test_models_whose_work_is_worth_as_much_get_the_same_time() -> None:
    device = Device()
    await asyncio.gather(device.work("short", 2.0, STEP_SECONDS, 5.0), device.work("long", 2.0, 20 * STEP_SECONDS, 5.0))
    assert device.seconds["short"] == pytest.approx(device.seconds["long"], abs=0.2)


@pytest.mark.parametrize(("worth", "share"), [(3.0, 3.0), (1000.0, LARGEST_RATIO), (None, 1.0)])
async def test_a_model_whose_work_is_worth_more_gets_as_much_more_time(worth: float | None, share: float) -> None:
    device = Device()
    await asyncio.gather(device.work("low", 1.0, STEP_SECONDS, 20.0), device.work("high", worth, STEP_SECONDS, 20.0))
    assert device.seconds["high"] / device.seconds["low"] == pytest.approx(share, rel=0.05)


async def test_a_turn_is_of_several_batches() -> None:
    device = Device()
    await asyncio.gather(*(device.work(model, 1.0, STEP_SECONDS, 5.0) for model in ("a", "b")))
    changes = sum(one != other for one, other in zip(device.order, device.order[1:], strict=False))
    assert changes < len(device.order) / 8


async def test_a_model_that_rests_after_each_batch_gets_as_much_time_as_one_that_does_not() -> None:
    device = Device()
    await asyncio.gather(
        device.work("rests", 1.0, STEP_SECONDS, 5.0, rests=True), device.work("goes on", 1.0, STEP_SECONDS, 5.0)
    )
    assert device.seconds["rests"] == pytest.approx(device.seconds["goes on"], abs=0.2)


WORKS = st.tuples(st.floats(0, 1e6) | st.none(), st.floats(0.01, 1.0), st.booleans())


@given(st.lists(WORKS, min_size=2, max_size=4))
@settings(max_examples=40)
def test_no_model_waits_longer_than_the_stated_bound(works: list[tuple[float | None, float, bool]]) -> None:
    device, longest = Device(), max(seconds for _, seconds, _ in works)

    async def work_at_once() -> None:
        await asyncio.gather(
            *(
                device.work(str(number), worth, seconds, 10 * longest, rests=rests)
                for number, (worth, seconds, rests) in enumerate(works)
            )
        )

    asyncio.run(work_at_once())
    for number, (_, seconds, _) in enumerate(works):
        bound = (len(works) - 1) * (3 * TURN_SECONDS + LARGEST_RATIO * seconds + longest)
        assert device.longest_waits[str(number)] <= bound + 1e-6


async def test_a_model_that_was_alone_for_long_owes_the_others_a_turn_at_most() -> None:
    device = Device()
    await device.turns.take("alone", 1.0)
    device.now += 1000.0
    waits = asyncio.create_task(device.turns.take("new", 1.0))
    await asyncio.sleep(0)
    assert device.turns.is_over
    assert not waits.done()
    back = asyncio.create_task(device.turns.take("alone", 1.0))
    assert await waits
    device.now += 1.5 * TURN_SECONDS
    assert not device.turns.is_over
    device.now += TURN_SECONDS
    assert device.turns.is_over
    device.turns.give("new")
    assert await back


async def test_a_turn_ends_before_the_next_one_begins() -> None:
    turns, order = DeviceTurns(), list[str]()

    async def work(model: str) -> None:
        for _ in range(3):
            await turns.take(model, 1.0)
            order.append(f"{model} begins")
            await asyncio.sleep(0)
            order.append(f"{model} ends")
        turns.give(model)

    await asyncio.gather(work("a"), work("b"))
    begins, ends = order[::2], order[1::2]
    assert [one.split()[0] for one in begins] == [one.split()[0] for one in ends]
    assert sorted(begins) == ["a begins"] * 3 + ["b begins"] * 3


async def test_a_wait_that_is_given_up_holds_nobody_up() -> None:
    turns = DeviceTurns()
    await turns.take("a", 1.0)
    given_up = asyncio.create_task(turns.take("b", 9.0))
    waits = asyncio.create_task(turns.take("c", 1.0))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    turns.leave("a")
    assert await waits
    assert not turns.is_over
