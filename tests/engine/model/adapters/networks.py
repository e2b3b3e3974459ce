"""Tiny networks with adapters, driven without an engine."""

from collections.abc import Sequence
from contextlib import nullcontext

import mlx.core as mx
import numpy as np

from benchmarks.tiny_models import tiny_config, tiny_model
from pie_mlx.backends import using
from pie_mlx.backends.kernels import EmulatorBackend
from pie_mlx.engine.model.adapters import AdapterContent, LowRank, Target
from pie_mlx.engine.model.loaded import LoadedModel, ModelCard
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.model.step import Segment, StepInput
from pie_mlx.metal.launcher import KernelLauncher

PAGE_SIZE = 8
Use = tuple[int, int, int]
NONE: Use = (0, 0, 0)


def loaded(architecture: str, launcher: KernelLauncher | None = None, *, bits: int | None = None) -> LoadedModel:
    """A model with random float32 weights; `bits` quantises them."""
    mx.random.seed(3)
    model = tiny_model(architecture)
    if bits is not None:
        import mlx.nn as nn

        nn.quantize(model, group_size=32, bits=bits)
    card = ModelCard(architecture, b"", 512, None, (), tiny_config(architecture), mx.float32, 0)
    with nullcontext() if launcher is None else using(EmulatorBackend(launcher)):
        made = LoadedModel(card, PagedNetwork(model, architecture))
    made.allocate(pages=64, page_size=PAGE_SIZE)
    return made


def random_content(targets: Sequence[Target], seed: int, rank: int = 3, size: float = 0.5) -> AdapterContent:
    """Additions to all of `targets`."""
    random = np.random.default_rng(seed)
    additions = {}
    for target in targets:
        down = random.standard_normal(target.down_shape(rank)).astype(np.float32) / np.sqrt(target.width)
        up = random.standard_normal(target.up_shape(rank)).astype(np.float32) * size
        additions[target.path] = LowRank(mx.array(down), mx.array(up), 0.5 + seed % 3)
    return AdapterContent(additions)


def with_adapters(model: LoadedModel, count: int) -> LoadedModel:
    """The model, and in its bank adapters 1 .. `count` of ranks 2, 3, 4, ... on all projections."""
    targets = list(model.adapters.targets.values())
    for number in range(1, count + 1):
        model.adapters.put((number, 1), random_content(targets, number, rank=1 + number))
    return model


def prefill(model: LoadedModel, prompts: Sequence[Sequence[int]], uses: Sequence[Use] | None) -> np.ndarray:
    """Logits [prompts, vocabulary] of the last token of each prompt, all in one batch on fresh pages.

    The tokens of prompt i are computed with `uses[i]`.
    """
    tokens: list[int] = []
    slots: list[int] = []
    segments: list[Segment] = []
    rows: list[Use] = []
    page = 0
    for context, prompt in enumerate(prompts):
        pages = -(-len(prompt) // PAGE_SIZE)
        table = list(range(page, page + pages))
        page += pages
        segments.append(Segment(context, len(tokens), len(prompt), table, len(prompt)))
        slots += [table[slot // PAGE_SIZE] * PAGE_SIZE + slot % PAGE_SIZE for slot in range(len(prompt))]
        tokens += prompt
        rows += [NONE if uses is None else uses[context]] * len(prompt)
    positions = [position for prompt in prompts for position in range(len(prompt))]
    last = [segment.start + segment.count - 1 for segment in segments]
    step = StepInput(tokens, positions, slots, tuple(segments), last, None if uses is None else rows)
    logits = model.forward(step)
    model.finish(logits)
    for context in range(len(prompts)):
        model.network.set_state(context, None)
    return np.array(logits)


def prompt(seed: int, length: int) -> list[int]:
    return [(seed * 7919 + place * 31) % 60 + 1 for place in range(length)]
