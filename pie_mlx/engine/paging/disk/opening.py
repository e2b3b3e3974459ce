"""From a directory and a model to its disk cache."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.paging.disk.directory import CacheDirectory
from pie_mlx.engine.paging.disk.disk_cache import DiskCache
from pie_mlx.engine.paging.disk.identity import WeightDigests, identity_of
from pie_mlx.engine.paging.disk.page_files import PageFiles
from pie_mlx.engine.paging.page_bytes import PageLayout
from pie_mlx.engine.paging.prefill_rate import PrefillRate
from pie_mlx.engine.settings import DiskCacheSettings
from pie_mlx.events import Event

WAITED_BYTES = 1 << 30
"""Weights that a start waits for; more are read beside the first prompts."""


async def open_disk_cache(
    settings: DiskCacheSettings, model: LoadedModel, prefill: PrefillRate, emit: Callable[[Event], None]
) -> DiskCache | None:
    """The pages of a model on disk; None for one without KV. It opens later if the weights are yet to be read."""
    layout = PageLayout.of_pool(model.pool)
    if not layout.bytes:
        return None
    cache, root = DiskCache(layout, prefill, emit), Path(settings.directory)
    digests, files = WeightDigests(root), model.card.files
    computes = f"{model.backend.name}, {type(model.pool).__name__}, {model.tier}"

    def find() -> PageFiles:
        directory = CacheDirectory(root, max_bytes=settings.max_bytes, day_bytes=settings.day_bytes)
        directory.open()
        weights = digests.known(files) or digests.compute(files, is_wanted=lambda: not cache.is_closing)
        identity = identity_of(model.identity, weights, computes)
        return PageFiles(directory, model.name, identity, shared=settings.shared)

    is_short = await asyncio.to_thread(lambda: digests.unknown_bytes(files) <= WAITED_BYTES)
    opening = cache.begin(find)
    if is_short:
        await opening
    return cache
