"""Kept states of recurrent layers between two batches."""

from collections.abc import Callable
from typing import Any, cast

from pie_mlx.engine.kv import KeptStates
from pie_mlx.engine.paging.state_io import StateIO


class InBatch:
    """A state that is a row of a batch."""

    size = 2

    def alone(self) -> str:
        return "alone"


class Runner:
    """Runs what it is given while `meanwhile` happens on the engine's loop."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile = meanwhile

    async def call(self, work: Callable[[], Any]) -> Any:
        self._meanwhile()
        return work()


async def test_a_state_that_is_dropped_while_another_is_copied_needs_no_copy() -> None:
    states = KeptStates(100)
    for tokens in (1, 2):
        found = states.keep(InBatch(), tokens, 10, 1)
        assert found is not None
        states.retain(found)
    await StateIO(states, cast("Any", Runner(states.clear)), None).carry_out()
    assert not len(states)
