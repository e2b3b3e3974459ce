"""Rules compiled before a step needs them, on a thread beside the device's.

On a GPU, MLX compiles the operations of a rule when they are first computed, for tenths of a second; in a step, all
texts would wait. Compiled here, the kernels are there for all threads and any number of rows: their sources name no
numbers of rows. While MLX compiles one kernel it keeps others from looking up theirs, so a step may wait for one.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import mlx.core as mx

from pie_mlx.calls import ModelInfo, RuleUse, Sampler, Slot
from pie_mlx.engine.model.rules.checking import check_use
from pie_mlx.engine.model.rules.evaluation import MOST_COMPILED
from pie_mlx.engine.model.rules.run import RuledRow, RuleRun
from pie_mlx.metal.arrays import evaluate
from pie_mlx.metal.faults import DEVICE_ERRORS

ROWS = (1, 2, 4)
"""Kernels differ for one row, for several, and for many numbers."""


class RuleWarmer:
    """The rules of a model that are compiled."""

    def __init__(self, model: ModelInfo, compile_rule: Callable[[RuleUse, ModelInfo], None] | None = None) -> None:
        self._model, self._compile = model, compile_rule or compile_for_rows
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pie-rules")
        self._known: OrderedDict[bytes, asyncio.Future[None]] = OrderedDict()

    async def warm(self, slots: Sequence[Slot]) -> None:
        """Return once the rules of all samplers among `slots` are compiled: the program that names one first waits,
        and so does each that names it meanwhile. Raises InvalidArgumentError for a rule that may not run."""
        for slot in slots:
            if isinstance(slot.read, Sampler) and slot.read.rule is not None:
                await self._compiled(slot.read.rule)

    async def close(self) -> None:
        """End the thread once what it compiles is compiled."""
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)

    async def _compiled(self, rule: RuleUse) -> None:
        check_use(rule, self._model)
        known = self._known.get(rule.code)
        if known is None:
            known = asyncio.wrap_future(self._thread.submit(self._compile, rule, self._model))
            self._known[rule.code] = known
            if len(self._known) > MOST_COMPILED:
                self._known.popitem(last=False)
        if not known.done():
            await asyncio.shield(known)


def compile_for_rows(rule: RuleUse, model: ModelInfo) -> None:
    """Compute a rule that may run for rows of zeros. Where the device fails, the step that needs it will tell."""
    others = (0,) * len(rule.graph.others)
    try:
        for rows in ROWS:
            logits, hidden = mx.zeros((rows, model.vocabulary_size)), mx.zeros((rows, model.hidden_size))
            ruled = [RuledRow(rule, 0, 0.5, None, others, row) for row in range(rows)]
            run = RuleRun(logits, range(rows), ruled, [None] * rows, None, hidden=hidden)
            left = [run.left_after(mx.zeros(rows, dtype=mx.uint32))] if run.leaves else []
            evaluate(run.answer, run.failed, *left)
    except DEVICE_ERRORS:
        return
