"""How much memory models have, and how much one will take."""

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.loading.sources import located, weight_files
from pie_mlx.engine.settings import EngineSettings


def capacity_bytes(limit_bytes: int | None) -> int:
    """What all models may take together, as of now: where the system says what is available, that shrinks with them."""
    device = current_backend().memory_bytes()
    return device if limit_bytes is None else min(limit_bytes, device)


def expected_bytes(settings: EngineSettings) -> int:
    """What a model takes at least, before it was ever loaded: its weights, or the GGUF file that they are made of.

    Raises ModelNotFoundError.
    """
    if settings.dummy or settings.script is not None:
        return 0
    path = located(
        settings.model,
        allow_download=settings.allow_download,
        progress=lambda line: None,
        revision=settings.revision,
    )
    return sum(file.stat().st_size for file in (weight_files(path) if path.is_dir() else [path]))
