"""Programs that compete for the pages of a small pool: everybody finishes, and no credit is made or lost."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.engine.market import imbalance_credits
from pie_mlx.errors import ContextBusyError
from pie_mlx.sdk import Context, Sampler
from tests.engine.running import Running, running

POOL_PAGES = 16
LONGEST_CONTEXT_TOKENS = 12 * 16

Step = tuple[str, int]
"""A verb and a number to go with it."""

VERBS = ("write", "generate", "fork", "idle", "bid", "suspend", "save", "open", "release", "reserve", "cancel")
STEPS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 40)), min_size=2, max_size=7)
PROGRAMS = st.lists(STEPS, min_size=2, max_size=6)


class Program:
    """Does random steps on the newest of its contexts."""

    def __init__(self, engine: Running, seed: int) -> None:
        self.engine, self.seed = engine, seed
        self.contexts: list[Context] = []

    async def run(self, steps: list[Step]) -> None:
        with self.engine.process():
            self.contexts = [Context(self.engine.model)]
            await self.write(20)
            for verb, number in steps:
                await getattr(self, verb)(number)
                await asyncio.sleep(0)
            await self.generate(3)

    @property
    def context(self) -> Context:
        return self.contexts[-1]

    def fits(self, tokens: int) -> bool:
        return self.context.seq_len + len(self.context.buffer()) + tokens <= LONGEST_CONTEXT_TOKENS

    async def write(self, number: int) -> None:
        if self.fits(number):
            self.context.append(self.engine.prompt(number, self.seed))
            await self.context.flush()

    async def generate(self, number: int) -> None:
        """Each step with another bid, 0 among them."""
        if not self.fits(number % 8 + 1):
            return
        self.context.append([50])
        generator = self.context.generate(Sampler.argmax(), max_tokens=number % 8 + 1, stop=[], auto_flush=False)
        self.context.set_bid(number % 3)
        async for step in generator:
            await step.execute()
            self.context.set_bid((self.context.seq_len * 7 + self.seed) % 5 / 2)

    async def fork(self, number: int) -> None:
        self.contexts.append(self.context.fork())
        await self.write(number % 5)

    async def idle(self, number: int) -> None:
        with self.context.idle():
            for _ in range(number):
                await asyncio.sleep(0)

    async def bid(self, number: int) -> None:
        self.context.set_bid(max(0, number - 10) * 10)

    async def suspend(self, number: int) -> None:
        with suppress(ContextBusyError):  # a cancelled pass may still be in its batch
            self.context.suspend()

    async def save(self, number: int) -> None:
        self.context.save(f"{self.seed}-{number % 2}")

    async def open(self, number: int) -> None:
        opened = Context.open(self.engine.model, f"{self.seed}-{number % 2}")
        if opened is not None:
            self.contexts.append(opened)

    async def release(self, number: int) -> None:
        self.contexts.pop().release()
        if not self.contexts:
            self.contexts.append(Context(self.engine.model))

    async def reserve(self, number: int) -> None:
        if self.fits(32):
            self.context.inner().reserve_working_pages(number % 3)

    async def cancel(self, number: int) -> None:
        """A flush that is given up after some turns of the loop."""
        if not self.fits(number):
            return
        self.context.append(self.engine.prompt(number, self.seed + 1))
        flushing = asyncio.create_task(self.context.flush())
        for _ in range(number % 4):
            await asyncio.sleep(0)
        flushing.cancel()
        await asyncio.gather(flushing, return_exceptions=True)


@pytest.fixture(scope="module", params=["market", "fcfs", "priority"])
def contested(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A small pool without a model, short chunks, and a spill file too small for everything."""
    with running(
        dummy=True,
        policy=request.param,
        total_pages=POOL_PAGES,
        default_endowment_pages=8,
        prefill_chunk_tokens=24,
        max_batch_contexts=4,
        aging_window_ticks=8,
        spill_directory=str(tmp_path_factory.mktemp("spill")),
        spill_max_bytes=24,
    ) as started:
        yield started


@settings(max_examples=15)
@given(programs=PROGRAMS)
def test_whatever_programs_do_they_finish_and_the_books_balance(  # M13, Q7, T29
    contested: Running, programs: list[list[Step]]
) -> None:
    asyncio.run(all_of(contested, programs))
    assert contested.used_pages() == 0
    contested.store.check_integrity()
    bank = contested.core.services.bank
    assert len(bank.ledger.accounts) == 1
    assert imbalance_credits(bank.ledger) == pytest.approx(0.0, abs=1e-6)


async def all_of(engine: Running, programs: list[list[Step]]) -> None:
    async with asyncio.timeout(30):
        await asyncio.gather(*(Program(engine, seed).run(steps) for seed, steps in enumerate(programs)))
