"""Memory: how much there is, how much a step needs, and how many pages fit in the rest."""

from pie_mlx.engine.model.memory.kv_format import with_format
from pie_mlx.engine.model.memory.pool_size import (
    BUFFER_CACHE_BYTES,
    Footprint,
    MemoryShare,
    bound_buffer_cache,
    check_state_fits,
    pool_pages,
    state_pages,
)
from pie_mlx.engine.model.memory.residency import Residency, WiringFacts, refused_because, wiring_facts
from pie_mlx.engine.model.memory.segments import Segments
from pie_mlx.engine.model.memory.transients import USUAL_BATCH, BatchSize, Transients, traced_row_bytes

__all__ = [
    "BUFFER_CACHE_BYTES",
    "USUAL_BATCH",
    "BatchSize",
    "Footprint",
    "MemoryShare",
    "Residency",
    "Segments",
    "Transients",
    "WiringFacts",
    "bound_buffer_cache",
    "check_state_fits",
    "pool_pages",
    "refused_because",
    "state_pages",
    "traced_row_bytes",
    "wiring_facts",
    "with_format",
]
