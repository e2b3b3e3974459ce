"""What a cache directory holds, by model."""

import contextlib

import msgspec

from pie_mlx.engine.paging.disk.batch_file import read_header
from pie_mlx.engine.paging.disk.directory import CacheDirectory, StoredFile


class ModelStock(msgspec.Struct, frozen=True):
    """The pages of a model on disk, of all users, and the bytes of their files; "" for files of another version."""

    model: str
    pages: int
    size_bytes: int


class DiskStock:
    """Reads each file's header once, as files never change. Methods block."""

    def __init__(self, directory: CacheDirectory) -> None:
        self._directory = directory
        self._known: dict[str, tuple[str, int]] = {}

    def models(self) -> list[ModelStock]:
        """The models with most bytes first. Raises OSError."""
        sums: dict[str, tuple[int, int]] = {}
        known: dict[str, tuple[str, int]] = {}
        for file in self._directory.files():
            name = str(file.path)
            model, pages = known[name] = self._known.get(name) or _described(file)
            before = sums.get(model, (0, 0))
            sums[model] = before[0] + pages, before[1] + file.size_bytes
        self._known = known
        rows = [ModelStock(model, pages, size) for model, (pages, size) in sums.items()]
        return sorted(rows, key=lambda row: -row.size_bytes)


def _described(file: StoredFile) -> tuple[str, int]:
    """The model of a file, and its pages; a file that goes meanwhile has none."""
    header = None
    with contextlib.suppress(FileNotFoundError):
        header = read_header(file.path)
    return ("", 0) if header is None else (header.owner.model, header.pages)
