"""The page pool's memory and attention over it. This room knows page ids, never contexts."""

from pie_mlx.metal.attention import AttentionPlan, attend
from pie_mlx.metal.batches import UnevaluatedError
from pie_mlx.metal.dense import DenseView
from pie_mlx.metal.page_pool.pool import (
    HostPages,
    KvPool,
    PageMemory,
    Revision,
    SlotWrite,
)
from pie_mlx.metal.page_pool.shapes import LayerShape, page_bytes, pages_for_budget
from pie_mlx.metal.page_scores import PageScores
from pie_mlx.metal.quantisation import Quantisation
from pie_mlx.metal.runs import Run, RunSlice

__all__ = [
    "AttentionPlan",
    "DenseView",
    "HostPages",
    "KvPool",
    "LayerShape",
    "PageMemory",
    "PageScores",
    "Quantisation",
    "Revision",
    "Run",
    "RunSlice",
    "SlotWrite",
    "UnevaluatedError",
    "attend",
    "page_bytes",
    "pages_for_budget",
]
