"""A tick loop that ends by a fault of the engine."""

import asyncio

import pytest

from pie_mlx.errors import EngineStoppedError
from pie_mlx.sdk import Context
from tests.engine.running import engine_alone, finished, in_context


class Panic(BaseException):
    """What native code raises when it gives up."""


@pytest.mark.parametrize("fault", [ValueError("no"), Panic("no")])
def test_whoever_waits_is_told_and_so_is_whoever_comes_later(fault: BaseException) -> None:
    with engine_alone() as engine:

        async def program() -> None:
            told: list[EngineStoppedError] = []
            with Context(engine.model) as context:
                for _ in range(2):
                    context.append([45])
                    with pytest.raises(EngineStoppedError) as raised:
                        await context.flush()
                    told.append(raised.value)
            assert all(f"the tick loop failed: {type(fault).__name__}: no" in str(error) for error in told)
            assert told[0] is not told[1]

        def fail() -> None:
            raise fault

        ticker = engine.core.services.ticker
        ticker._ticks.plan = fail  # type: ignore[method-assign, assignment]
        finished(in_context(engine, asyncio.wait_for(program(), 20)))
