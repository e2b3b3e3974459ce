"""Several replies of one request go on at once, at the pace of whoever reads them."""

import asyncio
from functools import partial
from types import SimpleNamespace

import pytest


class Replies:
    """Replies of so many parts each: what was drawn of them, and which have ended. One may `fail` after its last."""

    def __init__(self, count, length, fails=None):
        self.drawn, self.ended, self._fails = [], [], fails
        self.streams = [self._reply(index, length) for index in range(count)]

    async def _reply(self, index, length):
        try:
            for place in range(length):
                self.drawn.append((index, place))
                yield index, place
                await asyncio.sleep(0)
            if index == self._fails:
                raise ValueError("no more")
        finally:
            self.ended.append(index)


@pytest.fixture
def merged(openai_module):
    return openai_module("choices").merged


async def other_tasks_run():
    """Let everything run that can."""
    for _ in range(200):
        await asyncio.sleep(0)


def others():
    return asyncio.all_tasks() - {asyncio.current_task()}


@pytest.mark.parametrize("count", [1, 3])
async def test_every_part_comes_once_and_those_of_a_reply_in_their_order(merged, count):
    replies = Replies(count, 20)
    parts = [part async for part in merged(replies.streams)]
    assert sorted(parts) == [(index, place) for index in range(count) for place in range(20)]
    assert all([p for p in parts if p[0] == index] == [(index, n) for n in range(20)] for index in range(count))


@pytest.mark.parametrize("count", [1, 3])
async def test_replies_that_nobody_takes_wait(merged, count):
    replies = Replies(count, 1000)
    parts = merged(replies.streams)
    await anext(parts)
    await other_tasks_run()
    assert len(replies.drawn) <= 3 * count
    await parts.aclose()


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("waits", [False, True])
async def test_closing_ends_all_replies_and_leaves_no_task(merged, count, waits):
    before, replies = others(), Replies(count, 1000)
    parts = merged(replies.streams)
    for _ in range(2 * count):
        await anext(parts)
    if waits:
        await other_tasks_run()
    await parts.aclose()
    assert sorted(replies.ended) == list(range(count))
    assert others() == before


async def test_who_is_cancelled_while_waiting_leaves_no_task(merged):
    async def forever():
        try:
            await asyncio.Event().wait()
            yield
        finally:
            ended.append(True)

    async def read():
        return [part async for part in merged([forever(), forever()])]

    before, ended = others(), []
    reading = asyncio.create_task(read())
    await other_tasks_run()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert ended == [True, True]
    assert others() == before


async def test_one_that_fails_ends_all(merged):
    before, replies = others(), Replies(3, 50, fails=1)
    with pytest.raises(ValueError, match="no more"):
        assert [part async for part in merged(replies.streams)]
    assert sorted(replies.ended) == [0, 1, 2]
    assert others() == before


class Spoken:
    """A context whose generators draw these tokens, and which records the budgets that they get."""

    finish_reason = "length"

    def __init__(self, tokens):
        self.seq_len, self.budgets = 0, []
        self.model = SimpleNamespace(info=SimpleNamespace(formats=SimpleNamespace(stop_tokens=[])))
        self._tokens = iter(tokens)

    def buffer(self):
        return []

    def generate(self, sampler, *, thinking_budget, **options):
        self.budgets.append(thinking_budget)
        return self

    async def __aiter__(self):
        for token in self._tokens:
            output = SimpleNamespace(tokens=[token], raw=None)
            yield SimpleNamespace(up_to=lambda n, output=output: SimpleNamespace(execute=partial(give, output)))


async def give(output):
    return output


class Thinking:
    """A decoder of a reply that begins inside a thought of so many tokens."""

    def __init__(self, openai_module, length):
        self._decoded, self._left = openai_module("decoding").Decoded, length
        self.thinks = True

    def feed(self, tokens):
        self._left -= len(tokens)
        self.thinks = self._left > 0
        return self._decoded(reasoning="x") if self.thinks else self._decoded("y")

    def finish(self, *, is_cut=False):
        return self._decoded()


@pytest.mark.parametrize(("budget", "left"), [(5, 2), (3, 0), (2, 0), (None, None)])
async def test_after_a_thought_only_what_it_has_left_may_be_thought(openai_module, budget, left):
    choices, context = openai_module("choices"), Spoken(range(6))
    sampling = choices.Sampling(choices.Sampler(0.0), 6, [], thought_tokens=budget)
    rules = openai_module("prompts").Rules(make=object)
    choice = choices.Choice(context, sampling, Thinking(openai_module, 3), rules)
    pieces = [piece async for piece in choice.pieces()]
    assert "".join(piece.reasoning + piece.text for piece in pieces) == "xxyyyy"
    assert context.budgets == [budget, left]
