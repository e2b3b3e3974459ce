"""Models on this machine: which there are, which can be loaded, fetching and removing them."""

from pie_mlx.runtime.doctor.models.cache import (
    CachedModel,
    cached_models,
    embedded_models,
    find_cached,
    find_on_disk,
    remove_cached,
)
from pie_mlx.runtime.doctor.models.download import download_model
from pie_mlx.runtime.doctor.models.loadable import Suitability, suitability

__all__ = [
    "CachedModel",
    "Suitability",
    "cached_models",
    "download_model",
    "embedded_models",
    "find_cached",
    "find_on_disk",
    "remove_cached",
    "suitability",
]
