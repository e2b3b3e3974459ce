"""What events told of pages adds up to what programs hold."""

from collections.abc import Iterator

import pytest

from inferlet import Context
from pie_mlx.engine import inspection
from pie_mlx.engine.scheduler.reports import PageCounts
from pie_mlx.events import ContextReleased, PagesCounted
from tests.engine.running import Running, finished, running

PROMPT = 3 * 16


@pytest.fixture(scope="module")
def engine() -> Iterator[Running]:
    with running(dummy=True, total_pages=64) as started:
        yield started


def counts(engine: Running) -> PageCounts:
    return finished(engine.core.consult(lambda services: services.page_report.count()))


def told(engine: Running) -> tuple[dict[int, tuple[int, int, float]], dict[str, tuple[int, int]]]:
    """The pages of contexts and processes, from the events alone."""
    contexts: dict[int, tuple[int, int, float]] = {}
    processes: dict[str, tuple[int, int]] = {}
    for event in engine.events:
        match event:
            case PagesCounted():
                contexts |= {one.context: (one.own, one.shared, one.effective) for one in event.contexts}
                processes |= {one.process: (one.own, one.shared) for one in event.processes}
            case ContextReleased(context=context):
                contexts.pop(context, None)
            case _:
                pass
    return contexts, {name: pages for name, pages in processes.items() if any(pages)}


async def test_every_page_counts_once_for_the_programs_that_hold_it(engine: Running) -> None:
    async def holder(*more: int) -> Context:
        context = Context(engine.model)
        context.append([*engine.prompt(PROMPT), *more])
        await context.flush()
        return context

    first = await holder(7)
    fork = first.fork()
    with engine.process() as other:
        second = await holder(8, 9)
        found = counts(engine)
        own, theirs = engine.host.process_id, other.process_id
        assert found.pages.used == 3 + 3  # the prompt, and a working page of each context
        assert {name: (held.own, held.shared) for name, held in found.processes.items()} == {
            own: (2, 3),
            theirs: (1, 3),
        }
        assert {number: (held.own, held.shared, held.effective) for number, held in found.contexts.items()} == {
            context.id: (1, 3, 2.0) for context in (first, fork, second)
        }
        assert told(engine)[1] == {own: (2, 3), theirs: (1, 3)}
        second.suspend()
        assert counts(engine).contexts[second.id].own == 0
        assert counts(engine).processes[own].own == 5
    statuses = finished(engine.core.consult(inspection.process_statuses))
    assert (statuses[own].pages, statuses[own].own_pages) == (5, 5)
    fork.release()
    first.release()
    assert counts(engine).pages.used == 0
    assert told(engine) == ({}, {})


async def test_the_memory_of_a_model_is_told_by_its_use() -> None:
    with running(total_pages=8) as small, running(total_pages=16) as large:
        uses = [await started.core.consult(inspection.memory_use) for started in (small, large)]
    assert uses[0].weights_bytes == uses[1].weights_bytes > 0
    assert uses[1].pool_bytes == 2 * uses[0].pool_bytes > 0


async def test_the_memory_of_quantised_pages_is_that_of_their_arrays() -> None:
    with running(total_pages=16, kv_dtype="int8") as engine:
        use = await engine.core.consult(inspection.memory_use)
        assert use.pool_bytes == sum(array.nbytes for array in engine.core.services.runner.model.pool.arrays())
