"""The memory a model will need, computed without reading its weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import mlx.core as mx

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.loading.load import (
    architecture_of,
    find_own_head,
    load_network,
    maximum_positions,
    read_config,
)
from pie_mlx.engine.model.loading.sources import find_model, weight_files
from pie_mlx.engine.model.memory import BatchSize, pool_pages, with_format
from pie_mlx.engine.model.mlx_lm.weights import retyped, weight_bytes
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.metal import LayerShape, page_bytes
from pie_mlx.runtime.doctor.diagnosis import ModelFacts


@dataclass(frozen=True, slots=True)
class _Measured:
    dtype: mx.Dtype
    weight_bytes: int
    maximum_positions: int
    step_bytes: int
    state_bytes: int


def model_footprint(settings: EngineSettings, drafter: EngineSettings | None = None) -> ModelFacts:
    """Footprint of a model on this disk, with its draft model. Of a `drafter`, another model of the engine, the weights
    count there.

    Raises ModelNotFoundError, ModelLoadError, InvalidArgumentError for pages that the model cannot have, and
    OutOfPagesError when weights and pool do not fit.
    """
    largest = BatchSize(settings.max_batch_tokens, settings.max_batch_contexts)
    parts = _measured(settings.model, settings, largest, settings.revision, head=settings.draft_head)
    if drafter is not None:
        sizes = replace(settings, dtype=drafter.dtype)
        found = _measured(drafter.model, sizes, largest, drafter.revision, head=False)
        parts += [(replace(part, weight_bytes=0), shapes) for part, shapes in found]
    elif settings.draft_model is not None:
        parts += _measured(settings.draft_model, settings, largest, None, head=False)
    whole = _Measured(
        max((part.dtype for part, _ in parts), key=lambda dtype: dtype.size),
        sum(part.weight_bytes for part, _ in parts),
        parts[0][0].maximum_positions,
        sum(part.step_bytes for part, _ in parts),
        sum(part.state_bytes for part, _ in parts),
    )
    pages = pool_pages(
        whole,
        [shape for _, shapes in parts for shape in shapes],
        settings.total_pages,
        settings.page_size,
        settings.kv_memory_fraction,
        settings.memory_headroom_bytes,
        whole.step_bytes,
        whole.state_bytes,
    )
    each = sum(page_bytes(shapes, settings.page_size, part.dtype) for part, shapes in parts)
    return ModelFacts(whole.weight_bytes, pages, pages * each, current_backend().memory_bytes(), whole.step_bytes)


def _measured(
    reference: str, settings: EngineSettings, largest: BatchSize, revision: str | None, *, head: bool
) -> list[tuple[_Measured, Sequence[LayerShape]]]:
    """Sizes of a model and of its largest batch, and the KV shapes of its layers; then those of its draft head."""
    directory = find_model(reference, allow_download=False, progress=_ignore, revision=revision)
    config = read_config(directory)
    files = weight_files(directory)
    network = load_network(directory, files, config, lazy=True)
    kept = retyped(network, settings.dtype, _ignore)
    own = find_own_head(directory, files, network, config, kept, _ignore, lazy=True) if head else None
    paged = PagedNetwork(network, architecture_of(config))
    step_bytes = paged.transients.step_bytes(largest)
    sizes = weight_bytes(network), maximum_positions(config), step_bytes, paged.state_bytes
    parts: list[tuple[_Measured, Sequence[LayerShape]]] = [
        (_Measured(kept, *sizes), with_format(paged.shapes, settings.kv_format, reference))
    ]
    if own is not None:
        of_head = _Measured(kept, own.weight_bytes, sizes[1], own.network.transients.step_bytes(largest), 0)
        parts.append((of_head, with_format(own.network.shapes, settings.kv_format, reference)))
    return parts


def _ignore(line: str) -> None:
    del line
