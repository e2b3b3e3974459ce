"""LoRA adapters: their files, their stacked matrices, and what they add to the rows of a forward pass. Users and names
are unknown here."""

from pie_mlx.engine.model.adapters.bank import AdapterBank, Version
from pie_mlx.engine.model.adapters.content import NO_ADAPTER, AdapterContent, AdapterUse, LowRank
from pie_mlx.engine.model.adapters.evolution import initial_content, updated
from pie_mlx.engine.model.adapters.files import read_adapter, write_adapter
from pie_mlx.engine.model.adapters.targets import Target, find_targets

__all__ = [
    "NO_ADAPTER",
    "AdapterBank",
    "AdapterContent",
    "AdapterUse",
    "LowRank",
    "Target",
    "Version",
    "find_targets",
    "initial_content",
    "read_adapter",
    "updated",
    "write_adapter",
]
