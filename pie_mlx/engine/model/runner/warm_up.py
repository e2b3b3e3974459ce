"""Compiles the GPU kernels before the first call needs them.

Metal compiles a kernel when it is first evaluated, once for each size and each use: a reply would stand still as its
context passes the keys of one part, or the first mask comes.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.parts import Parts, Pause
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.model.runner.sampling import Sampling
from pie_mlx.engine.model.step import Segment, StepInput
from pie_mlx.metal.faults import DEVICE_ERRORS, one_line
from pie_mlx.metal.kernel_attention import run_kinds
from pie_mlx.metal.page_pool.kernel_pool import KernelPool

SAMPLERS = (Sampler.argmax(), Sampler(1.0), Sampler(1.0, min_probability=0.1), Sampler(1.0, k=40, p=0.9))
"""One for each way to draw."""

CONTEXT = -1
"""No context of an engine."""


def warming_up(model: LoadedModel, progress: Callable[[str], None]) -> Parts[None]:
    """On an Apple GPU, run every kernel in every specialisation that batches and moves of pages can need.

    Nothing may be in the pool yet: afterwards its pages hold meaningless numbers. A kernel that fails is not used from
    then on; where the device fails otherwise, the batches will tell.
    """
    pool = model.pool
    if not isinstance(pool, KernelPool) or pool.launcher.kind != "metal":
        return
    progress(f"{model.name}: compiling the GPU kernels")
    try:
        for use in _uses(model, pool):
            model.attempt(use, lambda: None)
            yield Pause()
    except DEVICE_ERRORS as error:
        model.recover()
        progress(f"{model.name}: not every kernel could be compiled: {one_line(error)}")
    model.network.set_state(CONTEXT, None)


def _uses(model: LoadedModel, pool: KernelPool) -> Iterator[Callable[[], None]]:
    room = min(pool.pages * pool.page_size, model.maximum_positions)
    if model.recurrent:
        yield partial(_compute, model, _step(pool.page_size, 1, 1, masked=False))
    for rows, length, masked in run_kinds(pool.gather_rows, room):
        if not (masked and model.recurrent):
            yield partial(_compute, model, _step(pool.page_size, rows, length, masked=masked))
    yield partial(_move_pages, model)


def _step(page_size: int, rows: int, length: int, *, masked: bool) -> StepInput:
    """The last `rows` tokens of a context of `length`, in the first pages; masks hide the first slot."""
    places = list(range(length - rows, length))
    masks = [[1, length - 1]] * rows if masked else None
    segment = Segment(CONTEXT, 0, rows, range(-(-length // page_size)), length, masks)
    return StepInput([0] * rows, places, places, (segment,), [rows - 1])


def _compute(model: LoadedModel, step: StepInput) -> None:
    state, segment = model.network.state(CONTEXT), step.segments[0]
    if state is not None:  # of other tokens, as what is computed means nothing
        model.network.set_state(CONTEXT, replace(state, tokens=segment.kv_length - segment.count))
    logits = model.forward(step)
    mask = np.full(-(-model.vocabulary_size // 32), 0xFFFFFFFF, np.uint32)
    reads = [(0, LogitsRequest(0, sampler.scored(), mask=allowed)) for sampler in SAMPLERS for allowed in (None, mask)]
    reading = Sampling(logits, [reads])
    model.finish(*reading.outputs)
    reading.collect()


def _move_pages(model: LoadedModel) -> None:
    pool = model.pool
    pool.write_pages([0], pool.read_pages([0]))
    if pool.pages > 1:
        pool.copy_pages([(0, 1, pool.page_size)])
    model.finish()
