"""pie-mlx: programmable LLM inference on a Mac.

    import pie_mlx
    pie_mlx.run("examples/hello", {"name": "Ada"})

Importing this package loads nothing heavy; an engine brings in MLX when it starts.
"""

from typing import TYPE_CHECKING

from pie_mlx.mlx_env import prepare_for_mlx

__version__ = "0.1.0"

prepare_for_mlx()

if TYPE_CHECKING:
    from pie_mlx.engine.settings import EngineSettings
    from pie_mlx.errors import PieError
    from pie_mlx.runtime.engine import Engine, Process, run

__all__ = ["Engine", "EngineSettings", "PieError", "Process", "__version__", "run"]

_HOMES = {
    "Engine": "pie_mlx.runtime.engine",
    "EngineSettings": "pie_mlx.engine.settings",
    "Process": "pie_mlx.runtime.engine",
    "PieError": "pie_mlx.errors",
    "load_ipython_extension": "pie_mlx.notebook",
    "unload_ipython_extension": "pie_mlx.notebook",
    "run": "pie_mlx.runtime.engine",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'pie_mlx' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
