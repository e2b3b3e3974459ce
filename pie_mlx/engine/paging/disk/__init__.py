"""I keep pages on disk for the engines that come after this one, found by what they hold."""

from pie_mlx.engine.paging.disk.directory import CacheDirectory, StoredFile
from pie_mlx.engine.paging.disk.disk_cache import DiskCache
from pie_mlx.engine.paging.disk.opening import open_disk_cache

__all__ = ["CacheDirectory", "DiskCache", "StoredFile", "open_disk_cache"]
