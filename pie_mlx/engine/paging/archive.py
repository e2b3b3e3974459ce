"""Snapshots on disk, for the engines that come after this one (N7)."""

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from pie_mlx.calls import PendingInput
from pie_mlx.engine.kv import Transcript
from pie_mlx.errors import InvalidArgumentError, SnapshotError, SnapshotIncompatibleError
from pie_mlx.files import disk_hint, make_private, write_file

FORMAT = 2
DIGEST_BYTES = 16
SUFFIX = ".snapshot"
_SIZES = ("model_type", "hidden_size", "num_hidden_layers", "vocab_size")
T = TypeVar("T")


class SnapshotNotes(NamedTuple):
    """What a snapshot keeps beside its pages: the SDK's buffer, and how many tokens were drawn (L6)."""

    pending: PendingInput
    sampled: int


class _File(msgspec.Struct, frozen=True):
    """What a file holds before its digest: a changed bit would be another token. `signature` stands for the model's
    architecture and its tokenizer; weights may be others."""

    format: int
    user: str
    name: str
    model: str
    signature: str
    transcript: Transcript
    pending: PendingInput
    sampled: int


class SnapshotArchive:
    """The snapshots in one directory, by user and name within one model.

    No KV is kept: tokens say it all, and an engine with other weights or pages of another size computes them as well.
    Files are read and written one after the other on a thread of its own. `turn` is for those who change the snapshots
    in memory and here together: what is begun on disk is done, and goes on in memory, although the program ends
    meanwhile. Methods raise SnapshotError for what the disk refuses.
    """

    def __init__(
        self, directory: Path | None, model: str, signature: Callable[[], str], *, persists: bool = False
    ) -> None:
        """`signature` is asked for when first needed, on the archive's thread. `persists` tells whether snapshots are
        kept here where a program does not say (N7)."""
        self.turn = asyncio.Lock()
        self.persists = persists
        self._directory, self._model, self._sign = directory, model, signature
        self._signed = ""
        self._thread = ThreadPoolExecutor(1, "archive")

    async def write(self, user: str, name: str, transcript: Transcript, notes: SnapshotNotes) -> None:
        """Keep a snapshot, instead of the one of that name. Raises InvalidArgumentError without a directory, and
        SnapshotIncompatibleError for what was computed with an adapter, as those end with their engine."""
        path = self._path(user, name)
        if path is None:
            raise InvalidArgumentError(
                f"save {name!r}: this engine has no directory for snapshots", hint="start it with snapshot_directory"
            )
        if transcript.needs_adapter:
            raise SnapshotIncompatibleError(
                f"snapshot {name!r}: it needs an adapter, and adapters end with their engine",
                hint="save it without persist",
            )
        await _to_its_end(
            self._run(
                lambda: _write(path, _File(FORMAT, user, name, self._model, self._signature(), transcript, *notes))
            )
        )

    async def read(self, user: str, name: str) -> tuple[Transcript, SnapshotNotes] | None:
        """The user's snapshot of that name; None when there is none. Raises SnapshotIncompatibleError for one of
        another model or tokenizer, and for a file that is none of these."""
        path = self._path(user, name)
        found = None if path is None else await self._run(lambda: self._read(path, name))
        return None if found is None else (found.transcript, SnapshotNotes(found.pending, found.sampled))

    async def remove(self, user: str, name: str) -> bool:
        """Whether there was one; it is gone now. Of two engines that remove it at once one hears True."""
        path = self._path(user, name)
        return path is not None and await _to_its_end(self._run(lambda: _unlinked(path)))

    async def close(self) -> None:
        """End the thread; what was begun is finished."""
        await asyncio.to_thread(self._thread.shutdown)

    async def _run(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except OSError as error:
            raise SnapshotError(
                f"snapshots: {error.strerror}: {error.filename}",
                hint=disk_hint(error, "check the disk and its permissions"),
            ) from error

    def _path(self, user: str, name: str) -> Path | None:
        """Where it is or would be; None without a directory."""
        return self._directory and self._directory / f"{_digest(user, name)}-{_digest(self._model)}{SUFFIX}"

    def _signature(self) -> str:
        self._signed = self._signed or self._sign()
        return self._signed

    def _read(self, path: Path, name: str) -> _File | None:
        if not path.exists():
            owner, _, _ = path.stem.partition("-")
            other = next(path.parent.glob(f"{owner}-*{SUFFIX}"), None)
            if other is None:
                return None
            raise _incompatible(name, f"it was saved with the model {_load(other, name).model}")
        found = _load(path, name)
        if found.signature != self._signature():
            raise _incompatible(name, f"it was saved with another model or tokenizer named {self._model}")
        return found


def signature_of(config: Mapping[str, Any], tokenizer: str) -> str:
    """What tokens and positions mean: stands for the sizes of an architecture and the JSON of a tokenizer."""
    inner = config.get("text_config", config)
    return _digest(*(str(inner.get(size)) for size in _SIZES), tokenizer)


async def _to_its_end(change: Coroutine[Any, Any, T]) -> T:
    """What `change` answers, also where it is waited for by a task that is cancelled."""
    task = asyncio.create_task(change)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        return await task


def _write(path: Path, file: _File) -> None:
    make_private(path.parent)
    content = msgspec.msgpack.encode(file)
    write_file(path, content + _sum(content))


def _load(path: Path, name: str) -> _File:
    data = path.read_bytes()
    content = memoryview(data)[:-DIGEST_BYTES]
    try:
        if _sum(content) != data[-DIGEST_BYTES:]:
            raise ValueError("its digest differs")
        return msgspec.msgpack.decode(content, type=_File)
    except (ValueError, RecursionError, MemoryError) as error:
        raise _incompatible(name, f"{path} is damaged, or of another version") from error


def _sum(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


def _incompatible(name: str, why: str) -> SnapshotIncompatibleError:
    return SnapshotIncompatibleError(
        f"snapshot {name!r}: {why}", hint="save under that name again, or choose another name"
    )


def _unlinked(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _digest(*texts: str) -> str:
    """A part of a file's name: names of snapshots are any text."""
    return hashlib.blake2b(msgspec.json.encode(texts), digest_size=12).hexdigest()
