"""Compares a loaded model with itself on mlx-lm's own cache: architectures that were never compared, and latents."""

from collections.abc import Callable

import mlx.core as mx
import numpy as np

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.mlx_lm.modules import Module, make_prompt_cache
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.model.networks.tiers import verified
from pie_mlx.engine.model.step import Segment, StepInput
from pie_mlx.errors import ModelLoadError
from pie_mlx.metal import PageMemory
from pie_mlx.metal.arrays import evaluate, integers, to_host

TOLERANCE = {mx.float32: 1e-3, mx.float16: 3e-2, mx.bfloat16: 1e-1}
"""Largest accepted difference relative to the largest logit."""

_PAGE_SIZE = 16
_TABLES = ([4, 0, 2], [1, 5, 3])
_LENGTHS = (37, 21)


def compared_network(model: Module, architecture: str, dtype: mx.Dtype, report: Callable[[str], None]) -> PagedNetwork:
    """The model on pages, compared where it has to be. Raises ModelLoadError when its logits differ.

    Latents in pages depend on how the model is configured: where they give other logits, keys and values are gathered.
    """
    network = PagedNetwork(model, architecture)
    if architecture not in verified():
        report(f"{architecture} was never compared with mlx-lm's own cache: comparing now")
    elif not network.latent:
        return network
    try:
        self_test(model, network, architecture, dtype)
        return network
    except ModelLoadError as error:
        if not network.latent:
            raise
        report(f"{error.message}: its pages are gathered instead")
    gathered = PagedNetwork(model, architecture, latent=False)
    self_test(model, gathered, architecture, dtype)
    return gathered


def self_test(model: Module, network: PagedNetwork, architecture: str, dtype: mx.Dtype) -> None:
    """Prefill two contexts in chunks, decode one token of each. Raises ModelLoadError when the logits differ."""
    memory = PageMemory(current_backend().operations_pool(network.shapes, pages=6, page_size=_PAGE_SIZE, dtype=dtype))
    for begin, end in ((0, 20), (20, None)):
        _run(network, memory, begin, end)
    logits = _run(network, memory, None, None)
    for row, context in enumerate((0, 1)):
        expected = _expected(model, _tokens(network, context))
        largest = float(np.max(np.abs(to_host(expected))))
        error = float(np.max(np.abs(to_host(logits[row] - expected)))) / largest if largest else float("nan")
        if not error <= TOLERANCE[dtype]:
            raise ModelLoadError(
                f"model: the architecture {architecture} gives other logits on pages ({network.tier}) than on "
                f"mlx-lm's own cache: {error:.1e} relative",
                hint="choose a model of a supported architecture (docs/reference/architectures.md)",
            )
    for context in (0, 1):
        network.set_state(context, None)


def _tokens(network: PagedNetwork, context: int) -> list[int]:
    return [(index * 7919 + context * 31 + 1) % network.vocabulary_size for index in range(_LENGTHS[context])]


def _run(network: PagedNetwork, memory: PageMemory, begin: int | None, end: int | None) -> mx.array:
    """One step over both contexts: tokens `begin` .. `end` but for the last one, or only the last one."""
    tokens: list[int] = []
    positions: list[int] = []
    slots: list[int] = []
    segments: list[Segment] = []
    for context, table in enumerate(_TABLES):
        whole = _tokens(network, context)
        last = len(whole) - 1
        span = range(last, last + 1) if begin is None else range(begin, last if end is None else min(end, last))
        if not span:
            continue
        segments.append(Segment(context, len(tokens), len(span), table, span.stop))
        tokens += whole[span.start : span.stop]
        positions += span
        slots += [table[slot // _PAGE_SIZE] * _PAGE_SIZE + slot % _PAGE_SIZE for slot in span]
    rows = [segment.start + segment.count - 1 for segment in segments]
    step = StepInput(tokens, positions, slots, tuple(segments), rows)
    logits = network.forward(step, memory)
    evaluate(logits, memory.arrays(), network.recurrence.arrays())
    network.recurrence.commit()
    return logits


def _expected(model: Module, tokens: list[int]) -> mx.array:
    cache = make_prompt_cache(model)
    evaluate(model(integers(tokens[:-1])[None], cache=cache))
    return model(integers(tokens[-1:])[None], cache=cache)[0, -1].astype(mx.float32)
