"""The pages of one model on disk: found by user and key, read only if they are what was stored."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pie_mlx.engine.paging.disk.batch_file import RECORDS, Location, Owner, Record, Wanted, read_header, read_records
from pie_mlx.engine.paging.disk.directory import CacheDirectory
from pie_mlx.engine.paging.disk.stock import DiskStock

LOOK_SECONDS = 1.0
"""How often a miss looks for files that other engines have written."""
USE_SECONDS = 60.0
"""How often the time of the last use is written to a file."""


class _Known(NamedTuple):
    """A file: whose it is, and what it held when it was indexed."""

    owner: Owner
    keys: tuple[bytes, ...]


_UNREADABLE = _Known(Owner("", "", ""), ())


class PageFiles:
    """An index of the records of one model, kept in memory, and their files.

    Safe to use from several threads: all but `holds` may block. A file that goes while it is read, and a record that is
    damaged, are as if they had never been there. `shared`: users find the pages of each other.
    """

    def __init__(
        self,
        directory: CacheDirectory,
        model: str,
        identity: str,
        *,
        shared: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.directory, self.stock = directory, DiskStock(directory)
        self._model, self._identity, self._shared, self._clock = model, identity, shared, clock
        self._lock = threading.RLock()
        self._files: dict[str, _Known] = {}
        self._records: dict[str, dict[bytes, Location]] = {}
        self._used: dict[str, float] = {}
        self._looked = -LOOK_SECONDS
        self._folder_time = 0

    def holds(self, user: str, key: bytes) -> bool:
        """Whether a record of that key is there for the user, as far as is known."""
        return self._find(user, key) is not None

    def look(self) -> None:
        """Index files that were written, and forget those that are gone, by others too. At most once a second, and only
        if something has changed. Raises OSError."""
        with self._lock:
            if not self.is_look_due:
                return
            self._looked = self._clock()
            folder = self.directory.folder(self._identity)
            with contextlib.suppress(FileNotFoundError):
                changed, before = folder.stat().st_mtime_ns, self._folder_time
                if changed == before:
                    return
                self._folder_time = changed
            names = self.directory.names(self._identity)
            for gone in self._files.keys() - set(names):
                self._forget_file(gone)
            for name in names:
                if name not in self._files:
                    self._index(name)

    @property
    def is_look_due(self) -> bool:
        return self._clock() - self._looked >= LOOK_SECONDS

    def read(self, user: str, key: bytes, tokens: bytes) -> memoryview | None:
        """The content stored under a key for these tokens; None if there is none."""
        run = self._run(user, [(key, tokens)], None)
        if not run or run[0].content_bytes < 0:
            return None
        content = memoryview(bytearray(run[0].content_bytes))
        if not self._read(run, [content]):
            return None
        self.use(user, [key])
        return content

    def forget(self, user: str, key: bytes) -> None:
        """Forget what is stored under a key: it is of no use."""
        if (at := self._find(user, key)) is not None:
            self._forget(key, at)

    def read_run(self, user: str, names: Sequence[tuple[bytes, bytes]], into: Sequence[memoryview]) -> int:
        """Read what is stored under keys, each for its tokens; returns how many of the first ones could be read.
        Records that lie side by side in a file are read at once."""
        done = 0
        while run := self._run(user, names[done:], len(into[0])):
            count = self._read(run, into[done : done + len(run)])
            done += count
            if count < len(run):
                break
        self.use(user, [key for key, _ in names[:done]])
        return done

    def _run(self, user: str, names: Sequence[tuple[bytes, bytes]], size: int | None) -> list[Wanted]:
        """The leading records, of contents of `size` bytes, that lie side by side."""
        run: list[Wanted] = []
        for key, tokens in names[:RECORDS]:
            at = self._find(user, key)
            if at is None or (run and (at.file, at.offset) != (run[-1].place.file, run[-1].place.end)):
                break
            found = Wanted(key, tokens, at)
            if size is not None and found.content_bytes != size:
                if not run:
                    self._forget(key, at)
                break
            run.append(found)
        return run

    def _read(self, run: Sequence[Wanted], into: Sequence[memoryview]) -> int:
        name = run[0].place.file
        known, count = self._files.get(name), 0
        try:
            if known is not None:
                count = read_records(self.directory.folder(self._identity) / name, known.owner, run, into)
        except FileNotFoundError:
            self._forget_file(name)
            return 0
        except OSError:
            pass
        if count < len(run):
            self._forget(run[count].key, run[count].place)
        return count

    def write(self, user: str, records: Sequence[Record]) -> int:
        """Store a batch; returns its size in bytes. Raises OSError."""
        owner = Owner(self._model, self._identity, user)
        name, size = self.directory.write(owner, records)
        self._index(name)
        return size

    def use(self, user: str, keys: Iterable[bytes]) -> None:
        """These records were used now, in memory or here."""
        now = self._clock()
        places = (self._find(user, key) for key in keys)
        for name in dict.fromkeys(at.file for at in places if at is not None):
            with self._lock:
                if now - self._used.get(name, -USE_SECONDS) < USE_SECONDS:
                    continue
                self._used[name] = now
            with contextlib.suppress(OSError):
                self.directory.use(self.directory.folder(self._identity) / name)

    def _find(self, user: str, key: bytes) -> Location | None:
        own = self._records.get(user, {}).get(key)
        if own is not None or not self._shared:
            return own
        return next((found for records in list(self._records.values()) if (found := records.get(key))), None)

    def _index(self, name: str) -> None:
        header = None
        with contextlib.suppress(OSError):
            header = read_header(self.directory.folder(self._identity) / name)
        with self._lock:
            # A file that cannot be read is known too, so that it is not read again.
            if header is None or header.owner.identity != self._identity:
                self._files[name] = _UNREADABLE
                return
            self._files[name] = _Known(header.owner, tuple(header.records))
            self._records.setdefault(header.owner.user, {}).update(header.records)

    def _forget_file(self, name: str) -> None:
        with self._lock:
            known = self._files.pop(name, _UNREADABLE)
            self._used.pop(name, None)
            records = self._records.get(known.owner.user, {})
            for key in known.keys:
                if key in records and records[key].file == name:  # another file may hold it since
                    del records[key]

    def _forget(self, key: bytes, at: Location) -> None:
        with self._lock:
            records = self._records.get(self._files.get(at.file, _UNREADABLE).owner.user, {})
            if records.get(key) == at:
                del records[key]
