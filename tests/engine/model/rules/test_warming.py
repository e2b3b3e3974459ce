"""On a device that compiles, a rule is compiled beside the device's thread, once, before a step needs it."""

import asyncio
import threading
from collections.abc import Iterator, Sequence

import mlx.core as mx
import pytest

from inferlet import Context, Sampler, rules
from pie_mlx.backends import using
from pie_mlx.calls import Formats, ModelInfo, RuleUse, Slot
from pie_mlx.engine.model.rules import evaluation
from pie_mlx.engine.model.rules.warming import ROWS, RuleWarmer, compile_for_rows
from pie_mlx.errors import InvalidArgumentError
from tests.backends.played import played_gpu
from tests.engine.running import Running, running

MODEL = ModelInfo("toy", 50, 4, 100, Formats([]), hidden_size=8)


def slots(*uses: RuleUse) -> list[Slot]:
    return [Slot(0, Sampler(1.0).ruled(use)) for use in uses]


class Compiler:
    """Compiles nothing, when it may."""

    def __init__(self) -> None:
        self.compiled: list[RuleUse] = []
        self.may = threading.Event()

    def __call__(self, use: RuleUse, model: ModelInfo) -> None:
        assert self.may.wait(20)
        self.compiled.append(use)


async def test_all_that_name_a_rule_wait_and_it_is_compiled_once() -> None:
    compiler = Compiler()
    warmer = RuleWarmer(MODEL, compiler)
    first, alike, other = rules.min_p(p=0.1), rules.min_p(p=0.2), rules.eta()
    waiting = [asyncio.create_task(warmer.warm(slots(use))) for use in (first, alike, other)]
    given_up = asyncio.create_task(warmer.warm(slots(first)))
    await warmer.warm([Slot(0, Sampler(1.0))])
    assert not any(task.done() for task in waiting)
    given_up.cancel()
    compiler.may.set()
    await asyncio.gather(*waiting)
    await warmer.warm(slots(first, other))
    assert compiler.compiled == [first, other]
    await warmer.close()


async def test_a_rule_that_may_not_run_is_not_compiled() -> None:
    compiler = Compiler()
    warmer = RuleWarmer(MODEL, compiler)
    with pytest.raises(InvalidArgumentError, match="parameters missing or unknown: epsilon"):
        await warmer.warm(slots(RuleUse(rules.eta().code)))
    await warmer.close()
    assert compiler.compiled == []


class Traces:
    """In the place of MLX's compiler, which on a CPU would be one of C++: the threads and rows of each call."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.rows: list[int] = []
        self.may = threading.Event()

    def __call__(self, function: evaluation.RowFunction) -> evaluation.RowFunction:
        def noted(given: list[mx.array]) -> mx.array:
            self.threads.append(threading.current_thread().name)
            self.rows.append(max(len(one) for one in given))
            assert self.may.wait(20)
            return function(given)

        return noted


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> Iterator[Traces]:
    found = Traces()
    monkeypatch.setattr(evaluation, "compile_function", found)
    evaluation.compiled_answer.cache_clear()
    with using(played_gpu(None)):
        yield found
    evaluation.compiled_answer.cache_clear()


@pytest.mark.parametrize("use", [rules.mirostat(), rules.typical(), rules.guidance()], ids=lambda use: use.graph.name)
def test_a_rule_is_compiled_for_one_row_for_several_and_for_many_numbers(traces: Traces, use: RuleUse) -> None:
    traces.may.set()
    compile_for_rows(use, MODEL)
    assert traces.rows == list(ROWS)


async def write(engine: Running, sampler: Sampler, others: Sequence[Context] = ()) -> list[int]:
    with Context(engine.model) as context:
        context.append(engine.prompt(3))
        text = context.generate(sampler, others=list(others), max_tokens=3, stop=[], auto_flush=False)
        return await text.collect_tokens()


async def test_another_text_goes_on_while_a_rule_is_compiled(traces: Traces) -> None:
    with running(total_pages=64) as engine, Context(engine.model) as other:
        ruled = asyncio.create_task(write(engine, Sampler.argmax().ruled(rules.min_p(p=0.1))))
        plain = await write(engine, Sampler.argmax())
        assert not ruled.done()
        traces.may.set()
        assert await ruled == plain
        guided_from = len(traces.threads)
        await write(engine, Sampler.argmax().ruled(rules.guidance()), [other.append(engine.prompt(3))])
    assert traces.threads[0].startswith("pie-rules")
    assert traces.threads[guided_from].startswith("pie-rules")
