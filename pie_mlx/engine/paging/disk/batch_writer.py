"""Collects pages until they fill a batch file. Belongs to the thread that writes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pie_mlx.engine.kv.pages.values import Evicted
from pie_mlx.engine.paging.disk.batch_file import BATCH_BYTES, RECORDS, Record, state_key
from pie_mlx.engine.paging.disk.page_files import PageFiles
from pie_mlx.engine.paging.page_bytes import PageRows
from pie_mlx.engine.paging.spill.state_record import HostState, StateName, packed_state


class Written(NamedTuple):
    """Pages that wait no longer: `names` of all, how many were written in how many bytes; `waiting_bytes` still wait.
    The `error` of the last write that failed, whose pages are dropped."""

    names: list[tuple[str, bytes]]
    pages: int
    size_bytes: int
    waiting_bytes: int
    error: OSError | None


@dataclass(slots=True)
class _Batch:
    """Records of one user that wait for the rest of their batch, and the keys of the pages among them."""

    records: list[Record] = field(default_factory=list[Record])
    keys: list[bytes] = field(default_factory=list[bytes])
    size_bytes: int = 0


class BatchWriter:
    """One batch per user, written once it is full."""

    def __init__(self, files: PageFiles) -> None:
        self._files = files
        self._batches: dict[str, _Batch] = {}

    def add(self, pages: Sequence[Evicted], rows: PageRows, states: Sequence[HostState | None]) -> Written:
        """Add pages, and states after them. Writes batches that are full."""
        full: list[tuple[str, _Batch]] = []
        for page, row, state in zip(pages, rows, states, strict=True):
            record, user = page.record, page.record.stored_for or ""
            new = [Record(record.key, record.packed, memoryview(row))]
            if state is not None:
                name = state_name(record.key, record.packed)
                new.append(Record(state_key(record.key), record.packed, packed_state(name, state)))
            size = sum(one.size_bytes for one in new)
            batch = self._batches.setdefault(user, _Batch())
            if batch.records and batch.size_bytes + size > BATCH_BYTES:
                full.append((user, self._batches.pop(user)))
                batch = self._batches.setdefault(user, _Batch())
            batch.records += new
            batch.keys.append(record.key)
            batch.size_bytes += size
            if len(batch.records) >= RECORDS:
                full.append((user, self._batches.pop(user)))
        return self._written(full)

    def flush(self) -> Written:
        """Write all that waits."""
        full, self._batches = list(self._batches.items()), {}
        return self._written(full)

    def _written(self, full: Sequence[tuple[str, _Batch]]) -> Written:
        names: list[tuple[str, bytes]] = []
        pages, size_bytes, error = 0, 0, None
        for user, batch in full:
            names += [(user, key) for key in batch.keys]
            try:
                size_bytes += self._files.write(user, batch.records)
                pages += len(batch.keys)
            except OSError as refused:
                error = refused
        waiting = sum(batch.size_bytes for batch in self._batches.values())
        return Written(names, pages, size_bytes, waiting, error)


def state_name(key: bytes, tokens: bytes) -> StateName:
    """The name in the record of a state."""
    return StateName(tokens, len(tokens), key)
