"""The comparisons: the same work by mlx-lm and by programs on the engine, in turns."""

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pie_mlx.backends import current_backend
from pie_mlx.bench import programs
from pie_mlx.bench.comparison import Row, alternating
from pie_mlx.bench.conditions import PROBE, Conditions, dtype_name, require_alike
from pie_mlx.bench.peer import MlxLm
from pie_mlx.bench.prompts import prompt, ragged
from pie_mlx.engine.services import Services
from pie_mlx.events import Event, TickCompleted
from pie_mlx.runtime.engine import Engine

Answer = TypeVar("Answer")

CONTINUATIONS = 16
CANDIDATES = 8
TURNS, OBSERVATION_TOKENS = 8, 24


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of the work, in tokens."""

    new_tokens: int = 64
    repeats: int = 3
    shared_prompt: int = 1024


class PeakPages:
    """Observes an engine; `used` is the largest number of pages at the end of a tick since it was last set, also those
    that states of recurrent layers cost, and `state_bytes` that of kept states, as `weigh` tells."""

    def __init__(self) -> None:
        self.used = self.state_bytes = 0
        self.weigh: Callable[[], int] = int

    def on_event(self, event: Event) -> None:
        """Record one event of the engine."""
        if isinstance(event, TickCompleted):
            self.used = max(self.used, event.used_pages)
            self.state_bytes = max(self.state_bytes, self.weigh())


class Contest:
    """A running engine and mlx-lm on one model. `pages` receives the engine's events."""

    def __init__(self, engine: Engine, peer: MlxLm, pages: PeakPages, sizes: Sizes) -> None:
        self._engine, self._peer, self._pages, self._sizes = engine, peer, pages, sizes
        self._seeds = itertools.count(100)

    async def check(self) -> tuple[str, str]:
        """The number format and BLAS of both sides. Raises InvalidArgumentError when their conditions differ."""
        ours = await self._engine.consult(lambda services: dtype_name(services.runner.model.card.dtype))
        logits = await self.inside(lambda: programs.last_logits(PROBE))
        mine = Conditions("pie-mlx", ours, current_backend().prepare(), np.frombuffer(logits, np.float32))
        theirs = self._peer.last_logits(PROBE)
        require_alike(mine, Conditions("mlx-lm", self._peer.dtype, current_backend().prepare(), theirs))
        return mine.dtype, mine.blas

    async def decode(self, context: int = 64) -> list[Row]:
        """One stream after a prompt of `context` tokens. Every round has a new prompt."""
        new_tokens, prompts = self._sizes.new_tokens, (prompt(context, seed) for seed in self._seeds)
        await self.inside(lambda: programs.stream(next(prompts), 8))
        self._peer.stream(next(prompts), 8)
        values = await self._turns(
            lambda: self._peer.stream(next(prompts), new_tokens), lambda: programs.stream(next(prompts), new_tokens)
        )
        return [Row(f"1 stream behind {context} tokens, decode", *values, "tok/s")]

    async def batch(self, streams: int) -> list[Row]:
        """Many streams of different lengths, with new prompts every round."""
        new_tokens, seeds = self._sizes.new_tokens, itertools.islice(self._seeds, 0, None, streams)
        theirs, mine = await self._turns(
            lambda: self._peer.batch(ragged(streams, next(seeds)), new_tokens)[0],
            lambda: programs.batch(ragged(streams, next(seeds)), new_tokens),
        )
        total = streams * new_tokens
        return [Row(f"{streams} ragged streams, prefill included", total / theirs, total / mine, "tok/s")]

    async def continuations(self) -> list[Row]:
        """Continuations of one prompt. Every round has a new prompt, so that none of it is cached."""
        sizes, tails = self._sizes, _tails()
        bytes_: list[tuple[int, int]] = []
        page_bytes = await self._engine.consult(_page_bytes)
        self._pages.weigh = await self._engine.consult(_state_bytes)

        def theirs() -> float:
            root = prompt(sizes.shared_prompt, next(self._seeds))
            seconds, kv_bytes = self._peer.batch([root + tail for tail in tails], sizes.new_tokens)
            bytes_.append((kv_bytes, 0))
            return seconds

        async def mine() -> float:
            self._pages.used = self._pages.state_bytes = 0
            root = prompt(sizes.shared_prompt, next(self._seeds))
            seconds = await self.inside(lambda: programs.continuations(root, tails, sizes.new_tokens))
            bytes_[-1] = (bytes_[-1][0], self._pages.used * page_bytes + self._pages.state_bytes)
            return seconds

        values = await alternating(theirs, mine, sizes.repeats)
        last = bytes_[-1]
        return [
            Row(f"{CONTINUATIONS} continuations of {sizes.shared_prompt} tokens", *values, "s", True),
            Row("  their KV", last[0] / 2**20, last[1] / 2**20, "MiB", True),
        ]

    async def copied_cache(self) -> list[Row]:
        """The same, with mlx-lm's prompt computed once and its cache copied by hand."""
        sizes, tails = self._sizes, _tails()
        roots = (prompt(sizes.shared_prompt, seed) for seed in self._seeds)
        values = await self._turns(
            lambda: self._peer.continuations(next(roots), tails, sizes.new_tokens),
            lambda: programs.continuations(next(roots), tails, sizes.new_tokens),
        )
        return [Row("  the same, mlx-lm's cache copied by hand", *values, "s", True)]

    async def equal_prompt(self) -> list[Row]:
        """The first token of a prompt that was computed before."""
        again = prompt(self._sizes.shared_prompt, next(self._seeds))
        await self.inside(lambda: programs.first_token(again))
        values = await self._turns(lambda: self._peer.first_token(again), lambda: programs.first_token(again))
        return [Row(f"first token of a second equal prompt of {self._sizes.shared_prompt}", *values, "s", True)]

    async def best_of(self) -> list[Row]:
        """Several drawn answers to one prompt, each with its score."""
        sizes = self._sizes
        questions = (prompt(sizes.shared_prompt // 4, seed) for seed in self._seeds)
        values = await self._turns(
            lambda: self._peer.best_of(next(questions), CANDIDATES, sizes.new_tokens),
            lambda: programs.best_of(next(questions), CANDIDATES, sizes.new_tokens),
        )
        return [Row(f"best of {CANDIDATES}, prompt of {sizes.shared_prompt // 4}, scored", *values, "s", True)]

    async def agent(self) -> list[Row]:
        """One agent that alternates between generated turns and observations, on KV that is kept."""
        sizes, said = self._sizes, max(1, self._sizes.new_tokens // 4)
        tasks = (prompt(sizes.shared_prompt // 4, seed) for seed in self._seeds)
        heard = [prompt(OBSERVATION_TOKENS, 1000 + turn) for turn in range(TURNS)]
        values = await self._turns(
            lambda: self._peer.agent(next(tasks), heard, said), lambda: programs.agent(next(tasks), heard, said)
        )
        return [Row(f"agent, {TURNS} turns of {OBSERVATION_TOKENS} heard, {said} said", *values, "s", True)]

    async def inside(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Run `work` as a program of the engine; returns its result."""
        answers: list[Answer] = []

        async def main(input: dict[str, object]) -> None:
            del input
            answers.append(await work())

        await self._engine.run(main, {})
        return answers[0]

    async def _turns(self, peer: Callable[[], float], ours: Callable[[], Awaitable[float]]) -> tuple[float, float]:
        return await alternating(peer, lambda: self.inside(ours), self._sizes.repeats)


def _tails() -> list[list[int]]:
    return [prompt(4, 1000 + tail) for tail in range(CONTINUATIONS)]


def _page_bytes(services: Services) -> int:
    pool = services.runner.model.pool
    return pool.bytes() // pool.pages


def _state_bytes(services: Services) -> Callable[[], int]:
    kept = services.store.pool.kept_states
    return lambda: kept.size_bytes
