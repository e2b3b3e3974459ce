"""The Llama with random weights that `pie bench` uses, for the other benchmarks."""

from pie_mlx.bench.random_llama import CONFIG, write_random_llama
from pie_mlx.engine.model.loading.sources import EMBEDDED as _EMBEDDED

EMBEDDED = _EMBEDDED / "pie-tiny"

__all__ = ["CONFIG", "EMBEDDED", "write_random_llama"]
