"""What the KV on a disk depends on: every byte of the weights, the versions that computed it, and the device."""

import hashlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec
import xxhash

import pie_mlx
from pie_mlx.files import make_private, write_file

_READ_BYTES = 8 << 20
_MOST_KEPT = 256


class _Digest(msgspec.Struct, frozen=True):
    """The digest of a file, for as long as size, time of change and inode are these."""

    path: str
    size: int
    changed_ns: int
    inode: int
    digest: str


class WeightDigests:
    """Digests of whole files, kept in one file of `root`: hashing a large model takes as long as reading it."""

    def __init__(self, root: Path) -> None:
        self._file = root / "weights.json"

    def known(self, files: Sequence[Path]) -> list[str] | None:
        """Digests of unchanged files; None if one is not known. Raises OSError."""
        found = self._find(files)
        digests = [digest for digest in found if digest is not None]
        return digests if len(digests) == len(files) else None

    def unknown_bytes(self, files: Sequence[Path]) -> int:
        """How much is to be read before all of them are known. Raises OSError."""
        return sum(path.stat().st_size for path, digest in zip(files, self._find(files), strict=True) if digest is None)

    def compute(self, files: Sequence[Path], is_wanted: Callable[[], bool] = lambda: True) -> list[str]:
        """Read every byte of the files, and keep the digests. Raises OSError, also once it `is_wanted` no more."""
        found: list[_Digest] = []
        for path in files:
            facts = _facts(path)
            digest = xxhash.xxh3_128()
            with path.open("rb", buffering=0) as file:
                while part := file.read(_READ_BYTES):
                    digest.update(part)
                    if not is_wanted():
                        raise InterruptedError("the engine stops")
            found.append(_Digest(*facts, digest.hexdigest()))
        names = {one.path for one in found}
        others = [one for one in self._kept() if one.path not in names]
        make_private(self._file.parent)
        write_file(self._file, msgspec.json.encode([*others, *found][-_MOST_KEPT:]))
        return [one.digest for one in found]

    def _find(self, files: Sequence[Path]) -> list[str | None]:
        kept = {(one.path, one.size, one.changed_ns, one.inode): one.digest for one in self._kept()}
        return [kept.get(_facts(path)) for path in files]

    def _kept(self) -> list[_Digest]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=list[_Digest])
        except (OSError, msgspec.DecodeError):
            return []


def identity_of(model: bytes, weights: Sequence[str], backend: str) -> str:
    """The name of the folder for a model: `model` is its identity within an engine, `weights` the digests of its
    files, `backend` what computes."""
    versions = (pie_mlx.__version__, version("mlx"), version("mlx-lm"), backend, *weights)
    return hashlib.blake2b(msgspec.json.encode([model.hex(), *versions]), digest_size=16).hexdigest()


def _facts(path: Path) -> tuple[str, int, int, int]:
    real = path.resolve()
    stat = real.stat()
    return str(real), stat.st_size, stat.st_mtime_ns, stat.st_ino
