"""Models on this disk: lists, checks, downloads and removes them. Loads none."""

from pie_mlx.runtime.models.cache import (
    CachedModel,
    embedded_models,
    find_cached,
    find_on_disk,
    models_on_disk,
    removable_bytes,
    remove_cached,
)
from pie_mlx.runtime.models.download import download_model
from pie_mlx.runtime.models.hub import HubModel, search_hub
from pie_mlx.runtime.models.loadable import Suitability, suitability
from pie_mlx.runtime.models.recommended import Recommendation, fitting
from pie_mlx.runtime.models.verification import verified_files

__all__ = [
    "CachedModel",
    "HubModel",
    "Recommendation",
    "Suitability",
    "download_model",
    "embedded_models",
    "find_cached",
    "find_on_disk",
    "fitting",
    "models_on_disk",
    "removable_bytes",
    "remove_cached",
    "search_hub",
    "suitability",
    "verified_files",
]
