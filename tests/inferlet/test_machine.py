"""Any order of operations, failures and cancellations: the SDK's idea of a context stays that of the engine."""

import asyncio
import gc
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from inferlet import Context, Model, Sampler
from inferlet._calls.host import use_host
from pie_mlx.errors import BatchFailedError, InvalidArgumentError
from tests.inferlet.toy_host import ToyHost
from tests.inferlet.toy_language import next_token

tokens = st.lists(st.integers(10, 60), min_size=1, max_size=9)
fates = st.sampled_from(["runs", "runs", "fails", "cancelled before", "cancelled after"])


@dataclass
class Expected:
    """What a context should hold: tokens in KV, and the buffer."""

    ctx: Context
    kv: list[int]
    buffer: list[int]


class ContextMachine(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.host = ToyHost(page_size=4, pages=1000)
        self.loop = asyncio.new_event_loop()
        with use_host(self.host):
            self.model = Model.load("toy")
        self.known = [Expected(Context(self.model), [], [])]

    def teardown(self) -> None:
        if not hasattr(self, "known"):
            return
        self.loop.close()
        # Tasks that failed form rings with the frames they ran, and those hold contexts.
        gc.collect()
        self.model.tokenizer().split_regex()
        assert set(self.host.contexts) == {known.ctx.id for known in self.known}

    def pick(self, place: int) -> Expected:
        return self.known[place % len(self.known)]

    def meet(self, work: Awaitable[object], fate: str) -> bool:
        """Let the work meet its fate; whether its pass ran."""
        self.host.failure = BatchFailedError("batch: lost", cause="test") if fate == "fails" else None
        self.host.before = asyncio.Event() if fate == "cancelled before" else None
        self.host.after = asyncio.Event() if fate == "cancelled after" else None
        with suppress(BatchFailedError, asyncio.CancelledError):
            self.loop.run_until_complete(self._cancelled(work, fate))
        self.host.failure = self.host.before = self.host.after = None
        return fate in ("runs", "cancelled after")

    async def _cancelled(self, work: Awaitable[object], fate: str) -> None:
        task = asyncio.ensure_future(work)
        if fate.startswith("cancelled"):
            for _ in range(4):
                await asyncio.sleep(0)
            task.cancel()
        await task

    @rule(place=st.integers(0, 9), added=tokens)
    def append(self, place: int, added: list[int]) -> None:
        known = self.pick(place)
        known.ctx.append(added)
        known.buffer += added

    @rule(place=st.integers(0, 9), fate=fates)
    def flush(self, place: int, fate: str) -> None:
        known = self.pick(place)
        if self.meet(known.ctx.flush(), fate):
            known.kv, known.buffer = known.kv + known.buffer, []

    @rule(place=st.integers(0, 9), own=tokens, fate=fates)
    def forward(self, place: int, own: list[int], fate: str) -> None:
        known = self.pick(place)
        forward = known.ctx.forward().input(own)
        known.kv, known.buffer = known.kv + known.buffer, []
        if self.meet(forward.execute(), fate):
            known.kv += own

    @rule(place=st.integers(0, 9))
    def abandon_a_forward(self, place: int) -> None:
        known = self.pick(place)
        known.ctx.forward()
        known.kv, known.buffer = known.kv + known.buffer, []

    @rule(place=st.integers(0, 9), fate=fates)
    def generate_a_token(self, place: int, fate: str) -> None:
        known = self.pick(place)
        generator = known.ctx.generate(Sampler.argmax(), max_tokens=1, auto_flush=False)
        if not known.buffer:
            with pytest.raises(InvalidArgumentError, match="no pending token"):
                self.loop.run_until_complete(generator.collect_tokens())
            return
        if self.meet(generator.collect_tokens(), fate):
            known.kv += known.buffer
            drawn = [next_token(known.kv, self.host.reply)]
            known.buffer = drawn if fate == "runs" else []

    @rule(place=st.integers(0, 9), count=st.integers(0, 3))
    def truncate(self, place: int, count: int) -> None:
        known = self.pick(place)
        count = min(count, known.ctx.inner().working_page_token_count())
        known.ctx.truncate(count)
        del known.kv[len(known.kv) - count :]

    @precondition(lambda self: len(self.known) < 4)
    @rule(place=st.integers(0, 9))
    def fork(self, place: int) -> None:
        known = self.pick(place)
        self.known.append(Expected(known.ctx.fork(), list(known.kv), list(known.buffer)))

    @rule(place=st.integers(0, 9))
    def save_and_take(self, place: int) -> None:
        known = self.pick(place)
        known.ctx.save("a")
        taken = Context.take(self.model, "a")
        assert taken is not None
        known.ctx = taken

    @invariant()
    def both_sides_agree(self) -> None:
        for known in getattr(self, "known", []):
            assert (known.ctx.seq_len, known.ctx.buffer()) == (len(known.kv), known.buffer)
            computed = self.host.contexts[known.ctx.id].tokens
            assert computed == known.kv[: len(computed)]


TestContexts = ContextMachine.TestCase
TestContexts.settings = settings(max_examples=12, stateful_step_count=15, deadline=None)
