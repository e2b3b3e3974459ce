"""Random lives of programs on hybrids in a small pool: what a context says next is what the model says of its text."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import Context, Logits, Sampler
from pie_mlx.bench.peer import MlxLm
from pie_mlx.engine.market import imbalance_credits
from tests.engine.behaviour.test_market import POOL_PAGES, PROGRAMS, Step, all_of
from tests.engine.running import Running, engine_alone, finished, in_context, running, small_prompt

ARCHITECTURES = ["qwen3_next", "lfm2", "recurrent_gemma"]
VERBS = [
    "feed",
    "generate",
    "collect",
    "truncate",
    "fork",
    "back",
    "suspend",
    "checkpoint",
    "save",
    "open",
    "take",
    "lose",
]
MOST_TOKENS = 200
ACTS = st.tuples(st.sampled_from(VERBS), st.integers(1, 40))


@dataclass
class Text:
    """A context and the tokens that it should hold."""

    context: Context
    tokens: list[int]


NUMBERS = itertools.count()
"""Of lives: snapshots outlive the programs that saved them."""


@dataclass
class Life:
    """A program with some contexts, the last of which it works with, and a snapshot. `told` has what it read, and of
    which texts."""

    engine: Running
    seed: int
    name: str
    texts: list[Text] = field(default_factory=list[Text])
    saved: list[int] | None = None
    told: list[tuple[list[int], npt.NDArray[np.float32]]] = field(
        default_factory=list[tuple[list[int], npt.NDArray[np.float32]]]
    )

    async def live(self, acts: list[tuple[str, int]]) -> None:
        self.texts.append(Text(Context(self.engine.model), []))
        await self.feed(70)
        for verb, count in acts:
            await getattr(self, verb)(count)
            await self.read()
        for text in self.texts:
            text.context.release()

    @property
    def text(self) -> Text:
        return self.texts[-1]

    async def read(self) -> None:
        text = self.text
        forward = text.context.forward().input([7])
        probe = forward.probe(0, Logits())
        found = (await forward.execute()).logits(probe)
        text.tokens.append(7)
        assert text.context.seq_len == len(text.tokens)
        self.told.append((list(text.tokens), np.frombuffer(found or b"", np.float32)))

    async def feed(self, count: int) -> None:
        if len(self.text.tokens) + count < MOST_TOKENS:
            more = small_prompt(count, self.seed)
            self.text.tokens += more
            await self.text.context.append(more).flush()

    async def generate(self, count: int) -> None:
        await self.drawn(min(count, 6), at_once=False)

    async def collect(self, count: int) -> None:
        await self.drawn(min(count, 20), at_once=True)

    async def drawn(self, count: int, *, at_once: bool) -> None:
        context = self.text.context.append([9])
        generator = context.generate(Sampler.argmax(), max_tokens=count, stop=[], auto_flush=False)
        if at_once:
            tokens = await generator.collect_tokens()
        else:
            tokens = [token async for step in generator for token in (await step.execute()).tokens]
        self.text.tokens += [9, *tokens]
        pending = context.buffer()
        self.text.tokens = self.text.tokens[: context.seq_len] + pending
        await context.flush()

    async def truncate(self, count: int) -> None:
        count = min(count, self.text.context.inner().working_page_token_count())
        self.text.context.truncate(count)
        del self.text.tokens[len(self.text.tokens) - count :]

    async def fork(self, count: int) -> None:
        if len(self.texts) < 3:
            self.texts.append(Text(self.text.context.fork(), list(self.text.tokens)))

    async def back(self, count: int) -> None:
        """To another of its contexts."""
        self.texts.insert(0, self.texts.pop())

    async def suspend(self, count: int) -> None:
        self.text.context.suspend()

    async def checkpoint(self, count: int) -> None:
        self.text.context.checkpoint()

    async def save(self, count: int) -> None:
        if self.saved is None:
            self.text.context.save(self.name)
            self.saved = list(self.text.tokens)

    async def open(self, count: int) -> None:
        await self.opened(Context.open)

    async def take(self, count: int) -> None:
        await self.opened(Context.take)
        self.saved = None

    async def opened(self, how: Callable[..., Context | None]) -> None:
        found = how(self.engine.model, self.name)
        assert (found is None) == (self.saved is None)
        if found is not None and self.saved is not None:
            self.text.context.release()
            self.texts[-1] = Text(found, list(self.saved))

    async def lose(self, count: int) -> None:
        self.engine.store.pool.kept_states.clear()


@dataclass(frozen=True)
class Subject:
    """An engine, and mlx-lm on the same weights."""

    engine: Running
    peer: MlxLm

    def check(self, programs: list[list[tuple[str, int]]]) -> None:
        engine = self.engine
        with engine.process() as host:
            here = Running(engine.core, engine.events, host)
            lives = [Life(here, seed, f"life {next(NUMBERS)}") for seed in range(len(programs))]

            async def together() -> None:
                await asyncio.gather(*(life.live(acts) for life, acts in zip(lives, programs, strict=True)))

            finished(in_context(here, together()))
        for tokens, found in [each for life in lives for each in life.told]:
            expected = self.peer.last_logits(tokens)
            assert np.max(np.abs(found - expected)) < 1e-4 * np.max(np.abs(expected)), len(tokens)
        engine.check_books()


@pytest.fixture(scope="module")
def subjects(tiny_model_directory: Callable[[str], Path]) -> Iterator[list[Subject]]:
    with ExitStack() as stack:
        directories = [tiny_model_directory(architecture) for architecture in ARCHITECTURES]
        settings = {"total_pages": 40, "prefill_chunk_tokens": 64}
        yield [
            Subject(stack.enter_context(engine_alone(model=str(each), **settings)), MlxLm(each)) for each in directories
        ]


@settings(max_examples=8)
@given(place=st.integers(0, 2), programs=st.lists(st.lists(ACTS, min_size=1, max_size=8), min_size=1, max_size=3))
def test_whatever_programs_do_their_contexts_say_what_the_model_says_of_their_texts(
    subjects: list[Subject], place: int, programs: list[list[tuple[str, int]]]
) -> None:
    subjects[place].check(programs)


@pytest.fixture(scope="module")
def contested(tiny_model_directory: Callable[[str], Path]) -> Iterator[Running]:
    """A hybrid whose states take two pages each, in a pool for the longest context of the programs."""
    with running(
        model=str(tiny_model_directory("qwen3_next")), total_pages=POOL_PAGES, aging_window_ticks=8
    ) as started:
        yield started


@settings(max_examples=4)
@given(programs=PROGRAMS)
def test_programs_that_compete_for_the_pages_of_a_hybrid_finish_and_the_books_balance(
    contested: Running, programs: list[list[Step]]
) -> None:  # M13, Q7, T29
    asyncio.run(all_of(contested, programs))
    assert contested.used_pages() == 0
    contested.check_books()
    assert imbalance_credits(contested.core.services.accounting.ledger) == pytest.approx(0.0, abs=1e-6)
