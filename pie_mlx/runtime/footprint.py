"""What a model will take in memory, found without reading its weights."""

from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.engine.model.loading import architecture_of, load_network, maximum_positions, read_config
from pie_mlx.engine.model.memory import memory_bytes, pool_pages
from pie_mlx.engine.model.paged_network import PagedNetwork
from pie_mlx.engine.model.sources import find_model, weight_files
from pie_mlx.engine.model.weights import retyped, weight_bytes
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.metal import page_bytes
from pie_mlx.runtime.diagnosis import ModelFacts


@dataclass(frozen=True, slots=True)
class _Measured:
    dtype: mx.Dtype
    weight_bytes: int
    maximum_positions: int


def model_footprint(settings: EngineSettings) -> ModelFacts:
    """Footprint of a model that is on this machine.

    Raises ModelNotFoundError, ModelLoadError, and OutOfPagesError when weights and pool do not fit.
    """
    directory = find_model(settings.model, allow_download=False, progress=_ignore, revision=settings.revision)
    config = read_config(directory)
    network = load_network(directory, weight_files(directory), config, lazy=True)
    dtype = retyped(network, settings.dtype, _ignore)
    shapes = PagedNetwork(network, architecture_of(config)).shapes
    measured = _Measured(dtype, weight_bytes(network), maximum_positions(config))
    pages = pool_pages(
        measured,
        shapes,
        settings.total_pages,
        settings.page_size,
        settings.kv_memory_fraction,
        settings.memory_headroom_bytes,
    )
    each = page_bytes(shapes, settings.page_size, dtype)
    return ModelFacts(measured.weight_bytes, pages, pages * each, memory_bytes())


def _ignore(line: str) -> None:
    del line
