"""I keep pages that fell out of the pool on a disk, if that is faster than computing them again."""

from pie_mlx.engine.paging.spill.costs import SpillCosts
from pie_mlx.engine.paging.spill.disk import Disk, open_disk
from pie_mlx.engine.paging.spill.file import LoadedPages, SpillFile
from pie_mlx.engine.paging.spill.spill import Spill, SpillNotice, open_spill

__all__ = [
    "Disk",
    "LoadedPages",
    "Spill",
    "SpillCosts",
    "SpillFile",
    "SpillNotice",
    "open_disk",
    "open_spill",
]
