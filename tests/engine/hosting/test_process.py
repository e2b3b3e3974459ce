"""Calls of one program from several threads and loops take effect in the order in which they were made (P3)."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from pie_mlx.calls import (
    Call,
    CompileGrammar,
    DescribeRuntime,
    ForkMatcher,
    GrammarSource,
    ReadMatcherMask,
    ReleaseMatcher,
)
from pie_mlx.engine.hosting.process import HostedProcess, ProcessHost
from pie_mlx.errors import EngineStoppedError
from pie_mlx.sdk import GrammarConstraint
from tests.engine.running import Running, running


def compiled(engine: Running) -> int:
    """A matcher in the engine."""
    state = engine.host.call(CompileGrammar(engine.model.name, GrammarSource("json")))
    assert state is not None
    return state.matcher


def test_a_call_of_another_thread_finds_what_a_waiting_loop_posted(engine: Running) -> None:
    async def program() -> list[int]:
        with ThreadPoolExecutor(1) as threads:
            matcher = GrammarConstraint.json(engine.model).matcher.fork()
            return threads.submit(matcher.next_token_logit_mask).result()

    assert asyncio.run(program())


def test_what_was_posted_on_a_loop_that_ended_leaves_before_the_next_call(engine: Running) -> None:
    matcher, loop = compiled(engine), asyncio.new_event_loop()

    def post_and_stop() -> None:
        engine.host.post(ForkMatcher(matcher, -1_000_000))
        loop.stop()

    async def mask_of_the_copy() -> list[int]:
        return await engine.host.submit(ReadMatcherMask(-1_000_000))

    loop.call_soon(post_and_stop)
    loop.run_forever()
    loop.close()
    assert asyncio.run(mask_of_the_copy())


def test_a_blocking_call_that_is_given_up_says_that_its_process_is_over(engine: Running) -> None:
    given_up: Future[Any] = Future()
    given_up.cancel()
    process = engine.core.services.processes[engine.host.process_id]

    async def answer(process: HostedProcess, message: Call[Any]) -> Any:
        raise NotImplementedError

    host = ProcessHost(engine.core.loop, lambda process, message: given_up, answer, process)
    with pytest.raises(EngineStoppedError, match="process"):
        host.call(DescribeRuntime())


def test_what_is_posted_to_an_engine_that_stopped_is_dropped() -> None:
    with running(total_pages=16) as engine:
        matcher = compiled(engine)
    engine.host.post(ReleaseMatcher(matcher))

    async def post() -> None:
        engine.host.post(ReleaseMatcher(matcher))

    asyncio.run(post())
