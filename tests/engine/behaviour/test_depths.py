"""However many steps are uncommitted at once, programs draw the same tokens, on a CPU and on the emulated GPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.engine.handlers.forward import continuation
from pie_mlx.engine.scheduler import forward_task
from tests.engine.acts import ACTS, Act, lives
from tests.engine.running import Running, engine_alone, finished, in_context

SHORT = st.builds(lambda act: replace(act, count=1 + act.count % 6), ACTS)
PROGRAMS = st.lists(st.lists(SHORT, min_size=1, max_size=4), min_size=1, max_size=2)


@pytest.fixture(scope="module", params=["off", "emulate"])
def engines(request: pytest.FixtureRequest) -> Iterator[tuple[Running, Running]]:
    """One that computes nothing before it is asked for, and one that does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIE_METAL", request.param)
        with engine_alone(total_pages=64, runs_ahead=False) as behind, engine_alone(total_pages=64) as ahead:
            yield behind, ahead


@contextmanager
def at_most(steps: int, seconds: float) -> Iterator[None]:
    """So many steps continue a pass at once, and are prefetched if they take no longer than `seconds` together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forward_task, "MOST_STEPS", steps)
        patch.setattr(continuation, "LONGEST_SECONDS", seconds)
        yield


@settings(max_examples=4)
@given(programs=PROGRAMS)
def test_programs_draw_the_same_tokens_at_every_depth(  # E1, G11, L6
    engines: tuple[Running, Running], programs: list[list[Act]]
) -> None:
    behind, ahead = engines
    drawn: list[list[list[int]]] = []
    for engine, steps, seconds in ((behind, 0, 0.0), (ahead, 0, 0.0), (ahead, 32, 1000.0)):
        with at_most(steps, seconds):
            drawn.append(finished(in_context(engine, lives(engine, programs))))
    assert drawn[1] == drawn[0]
    assert drawn[2] == drawn[0]
