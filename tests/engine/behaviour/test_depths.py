"""However many steps are uncommitted at once, programs draw the same tokens, on a CPU and on the emulated GPU."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.engine.handlers.forward import continuation
from pie_mlx.engine.scheduler import forward_task
from tests.engine.acts import ACTS, Act, lives
from tests.engine.running import Running, engine_alone, finished, in_context, small_prompt

SHORT = st.builds(lambda act: replace(act, count=1 + act.count % 6), ACTS)
PROGRAMS = st.lists(st.lists(SHORT, min_size=1, max_size=4), min_size=1, max_size=2)


DEVICES = ["off", "emulate"]


@contextmanager
def pair(device: str, **settings: object) -> Iterator[tuple[Running, Running]]:
    """An engine that computes nothing before it is asked for, and one that does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIE_METAL", device)
        options = {"total_pages": 64, **settings}
        with engine_alone(**options, runs_ahead=False) as behind, engine_alone(**options) as ahead:
            yield behind, ahead


@pytest.fixture(scope="module", params=DEVICES)
def engines(
    request: pytest.FixtureRequest, tiny_model_directory: Callable[[str], Path]
) -> Iterator[tuple[Running, Running]]:
    with pair(request.param, model=str(tiny_model_directory("qwen3"))) as both:
        yield both


@pytest.fixture(scope="module", params=list(zip(DEVICES, ["qwen3_next", "lfm2"], strict=True)), ids=str)
def hybrids(
    request: pytest.FixtureRequest, tiny_model_directory: Callable[[str], Path]
) -> Iterator[tuple[Running, Running]]:
    """The state of recurrent layers is in no page: it must be that behind the tokens which a context counts."""
    device, architecture = request.param
    with pair(device, model=str(tiny_model_directory(architecture))) as both:
        for engine in both:
            engine.prompt = small_prompt  # type: ignore[method-assign]
        yield both


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
    assert_alike(engines, programs)


@settings(max_examples=4)
@given(programs=PROGRAMS)
def test_programs_draw_the_same_tokens_of_a_hybrid_at_every_depth(  # E1, G11, L6
    hybrids: tuple[Running, Running], programs: list[list[Act]]
) -> None:
    assert_alike(hybrids, [[act for act in acts if act.verb not in ("truncate", "suspend")] for acts in programs])


def assert_alike(engines: tuple[Running, Running], programs: list[list[Act]]) -> None:
    behind, ahead = engines
    drawn: list[list[list[int]]] = []
    for engine, steps, seconds in ((behind, 0, 0.0), (ahead, 0, 0.0), (ahead, 32, 1000.0)):
        with at_most(steps, seconds):
            drawn.append(finished(in_context(engine, lives(engine, programs))))
    assert drawn[1] == drawn[0]
    assert drawn[2] == drawn[0]
