"""Batches of rows over different pages: copied side by side once, and kept, so that a step appends one slot per row.

A mirror is a cache: it believes a row only as far as the row's pages are unchanged since it was copied, so no owner of
pages has to know of it. Rows come and go one by one; what is missing is copied by the host, never by the device.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.backends.cpu.storage import put_rows
from pie_mlx.metal.arrays import evaluate, host_view, index_of, integers
from pie_mlx.metal.batches import IDLE, Ask, Batch, HostViews, KeysAndValues, RowBatches, Stored, UnsettledError, once
from pie_mlx.metal.page_pool.pool import HostPages, KvPool, page_bytes
from pie_mlx.metal.visibility import BoolArray, Run, visible

GROWTH = 256
"""Slots a mirror has room for beyond what it holds; it is made anew once per so many steps."""

MIRROR_BYTES = 512 << 20
"""Most bytes of all mirrors of a pool; larger batches are gathered at every step."""

IDLE_CHANGES = 8
"""Changes of the pool after which an unused mirror is dropped."""

MOST_IDLE = 0.25
"""Share of a mirror's rows that may lie idle in case their runs come back; beyond it others move up."""


@dataclass(slots=True)
class Row:
    """What a row holds: `valid` slots of `table`, which begins with page `first`, as of the pool's clock `used_at`."""

    context: int
    first: int = 0
    table: list[int] = field(default_factory=list[int])
    valid: int = 0
    used_at: int = 0


@dataclass(frozen=True, slots=True)
class Fill:
    """Slots `start` .. `stop` of a row, from the pages `table` that begin with the row's first slot."""

    row: int
    table: Sequence[int]
    start: int
    stop: int


@dataclass(slots=True)
class Mirror:
    """K and V by layer, [room, kv_heads, capacity, head_dim], of runs that share `key`; `rows` are in use."""

    key: tuple[int | None, int | None]
    room: int
    capacity: int
    bytes: int
    used_at: int = 0
    rows: list[Row] = field(default_factory=list[Row])
    layers: dict[int, KeysAndValues] = field(default_factory=dict[int, KeysAndValues])


class Mirrors(RowBatches):
    """The mirrors of one pool, read by `host_views`."""

    def __init__(self, pool: KvPool, host_views: Callable[[], HostViews]) -> None:
        super().__init__(pool.page_size, pool.gather)
        self._pool, self._host_views = pool, host_views
        self._kept: list[Mirror] = []

    def arrays(self, layers: range | None = None) -> list[mx.array]:
        """Every array of every mirror, or those of `layers`."""
        pairs = (item for mirror in self._kept for item in mirror.layers.items())
        return [array for layer, pair in pairs if layers is None or layer in layers for array in pair]

    def before_step(self) -> HostViews:
        """What rows are filled from."""
        return self._host_views()

    def bytes(self) -> int:
        """Bytes the mirrors take."""
        return sum(mirror.bytes for mirror in self._kept)

    def read(self, ask: Ask, stored: Stored) -> Batch:
        """The batch asked for, from mirrors unless they would take too much memory."""
        size = self._pool.page_size
        pairs = list(zip(ask.runs, ask.first, strict=True))
        mirror = self._mirror(ask, max(run.kv_length - start * size for run, start in pairs))
        if mirror is None:
            return super().read(ask, stored)
        seats = _seats(mirror, ask.runs)
        known = self._known(mirror)
        fills = [
            self._continued(mirror, seat, run, start, known[seat])
            for seat, (run, start) in zip(seats, pairs, strict=True)
        ]
        mirror.used_at = self._pool.clock
        if not self._pool.settled and (not mirror.layers or any(map(_is_lacking, fills))):
            for fill in fills:
                mirror.rows[fill.row].valid = fill.start
            raise UnsettledError
        rows = BatchRows(mirror, self._pool, ask, seats, fills)
        return Batch(once(lambda layer: rows.read(layer, stored[layer])), rows.visible(), rows.order)

    def _mirror(self, ask: Ask, longest: int) -> Mirror | None:
        key, rows = (ask.window, ask.prefix), len(ask.runs)
        old = next((kept for kept in self._kept if kept.key == key), None)
        if old is not None and longest <= old.capacity and rows <= old.room:
            return old
        if old is not None:
            self._kept.remove(old)
        room = rows if old is None else max(old.room, rows + rows // 4)
        pages = -(-(longest + GROWTH) // self._pool.page_size)
        total = page_bytes(self._pool.shapes, self._pool.page_size, self._pool.dtype) * pages * room
        if not self._make_room(total):
            return None
        self._kept.append(Mirror(key, room, pages * self._pool.page_size, total))
        return self._kept[-1]

    def _known(self, mirror: Mirror) -> list[int]:
        """How many leading pages of each row are as they were when it was last used."""
        counts = [len(row.table) for row in mirror.rows]
        if all(row.used_at >= self._pool.clock - 1 for row in mirror.rows):  # nothing changed since but in this step
            return counts
        pages = np.concatenate([np.asarray(row.table, np.int64) for row in mirror.rows])
        used_at = np.repeat(np.asarray([row.used_at for row in mirror.rows], np.int64), counts)
        changed = self._pool.changed_before(pages) > used_at
        if not changed.any():
            return counts
        parts = np.split(changed, np.cumsum(counts)[:-1])
        return [int(part.argmax()) if part.any() else len(part) for part in parts]

    def _continued(self, mirror: Mirror, seat: int, run: Run, first: int, known: int) -> Fill:
        """Record that the row holds the run from this step on; answers what it lacks besides the step's own slot."""
        size, row = self._pool.page_size, mirror.rows[seat]
        beyond = run.kv_length - row.first * size > mirror.capacity
        if beyond or row.first > first or (mirror.key[0] is None and row.first != first):
            row.first, row.valid = first, 0
        table = list(run.block_table[row.first : -(-run.kv_length // size)])
        same = known if row.table[:known] == table[:known] else _common(row.table[:known], table)
        own = run.kv_length - 1 - row.first * size
        fill = Fill(seat, table, min(row.valid, own, same * size), own)
        row.table, row.valid, row.used_at = table, own + 1, self._pool.clock
        return fill

    def _make_room(self, wanted: int) -> bool:
        """Drop idle mirrors, and others that this step has not used if need be; whether `wanted` bytes fit then."""
        now = self._pool.clock
        self._kept = [mirror for mirror in self._kept if now - mirror.used_at <= IDLE_CHANGES]
        for mirror in sorted(self._kept, key=lambda one: one.used_at):
            if self.bytes() + wanted > MIRROR_BYTES and mirror.used_at < now:
                self._kept.remove(mirror)
        return self.bytes() + wanted <= MIRROR_BYTES


class BatchRows:
    """One step's use of a mirror: what its rows lack is filled in by the host, what the step stores is appended.

    `order` gives the index of each row's run or IDLE.
    """

    def __init__(self, mirror: Mirror, pool: KvPool, ask: Ask, seats: Sequence[int], fills: list[Fill]) -> None:
        self._mirror, self._pool, self._ask, self._fills = mirror, pool, ask, fills
        self._seats = np.asarray(seats, np.int64)
        self._starts = [mirror.rows[seat].first * pool.page_size for seat in seats]
        self._places = np.asarray([run.kv_length - 1 for run in ask.runs], np.int64) - np.asarray(self._starts)
        self._width = int(self._places.max()) + 1
        self.order = [IDLE] * len(mirror.rows)
        for index, seat in enumerate(seats):
            self.order[seat] = index
        self._index: dict[int, mx.array | slice] = {}
        rows = [run.start for run in ask.runs]
        self._taken = None if rows == list(range(ask.step_rows)) else integers(rows)

    def visible(self) -> BoolArray:
        """Which slots each row sees, [rows, 1, slots]; everything for an idle one."""
        last = np.full(len(self.order), self._width)
        last[self._seats] = self._places
        slot = np.arange(self._width)
        seen = slot <= last[:, None]
        if self._ask.window is not None:
            seen[self._seats] &= slot > (self._places - self._ask.window)[:, None]
        for seat, run, start in zip(self._seats, self._ask.runs, self._starts, strict=True):
            if run.masks is not None:
                seen[seat] = visible(run, self._ask.window, start, self._width)
        return seen[:, None]

    def read(self, layer: int, stored: KeysAndValues) -> KeysAndValues:
        """K and V of all rows, [rows, kv_heads, slots, head_dim], with what the step stores."""
        shape = (self._mirror.room, self._pool.shapes[layer].kv_heads, self._mirror.capacity)
        kept = self._filled(layer, shape)
        for array, new in zip(kept, stored, strict=True):
            chosen = new if self._taken is None else new[self._taken]
            put_rows(array, self._places_of(shape[1]), chosen.flatten(0, 1).astype(array.dtype), axis=0)
        keys, values = (mx.unflatten(array, 0, shape)[: len(self.order), :, : self._width] for array in kept)
        return keys, values

    def _places_of(self, heads: int) -> mx.array | slice:
        """Where the runs' new slots go in arrays of `heads` KV heads, [runs * heads]."""
        if heads not in self._index:
            head = self._seats[:, None] * heads + np.arange(heads)
            self._index[heads] = index_of((head * self._mirror.capacity + self._places[:, None]).reshape(-1))
        return self._index[heads]

    def _filled(self, layer: int, shape: tuple[int, int, int]) -> KeysAndValues:
        """The arrays of a layer, flat [rows * heads * capacity, head_dim], with all but the runs' new slots."""
        fills = self._fills
        if layer not in self._mirror.layers:
            if not self._pool.settled:
                raise UnsettledError
            self._mirror.layers[layer] = self._empty(layer)
            fills = [replace(fill, start=0) for fill in fills]
        kept = self._mirror.layers[layer]
        lacking = [fill for fill in fills if _is_lacking(fill)]
        if lacking:
            for array, source in zip(kept, self._ask.before[layer], strict=True):
                self._fill(host_view(array).reshape(*shape, -1), source, lacking)
        return kept

    def _empty(self, layer: int) -> KeysAndValues:
        """Zeros for a layer of every row; flat, because one index per row scatters several times faster than three."""
        shape = self._pool.shapes[layer]
        rows = self._mirror.room * shape.kv_heads * self._mirror.capacity
        pair = mx.zeros((rows, shape.key_dim), self._pool.dtype), mx.zeros((rows, shape.value_dim), self._pool.dtype)
        evaluate(pair)
        for row, run in zip(self._mirror.rows, self.order, strict=True):
            row.valid = 0 if run == IDLE else row.valid
        return pair

    def _fill(self, target: HostPages, source: HostPages, fills: Sequence[Fill]) -> None:
        for fill in fills:
            if fill.start == 0:
                # What the row held for another run must not reach this one, not even times zero.
                target[fill.row, :, fill.stop :] = 0
            if fill.start < fill.stop:
                target[fill.row, :, fill.start : fill.stop] = source[:, _slots(fill, self._pool.page_size)]


def _is_lacking(fill: Fill) -> bool:
    return fill.start == 0 or fill.start < fill.stop


def _slots(fill: Fill, page_size: int) -> slice | npt.NDArray[np.int64]:
    """The pool's slots of a fill: a slice where its pages are neighbours."""
    places = np.arange(fill.start, fill.stop)
    slots = np.asarray(fill.table, np.int64)[places // page_size] * page_size + places % page_size
    if slots[-1] - slots[0] == len(slots) - 1 and (np.diff(slots) == 1).all():
        return slice(int(slots[0]), int(slots[-1]) + 1)
    return slots


def _seats(mirror: Mirror, runs: Sequence[Run]) -> list[int]:
    """The row of each run: the one it had, an idle one, or another at the end; idle ones at most a share of all."""
    rows = mirror.rows
    held = {row.context: seat for seat, row in enumerate(rows)}
    taken = {held[run.context] for run in runs if run.context in held}
    idle = [seat for seat in range(len(rows)) if seat not in taken]
    for run in runs:
        if run.context in held:
            continue
        if idle:
            held[run.context] = idle.pop(0)
            rows[held[run.context]] = Row(run.context)
        else:
            held[run.context] = len(rows)
            rows.append(Row(run.context))
    if len(idle) > MOST_IDLE * len(rows):
        kept = [seat for seat in range(len(rows)) if seat not in idle]
        mirror.rows = [rows[seat] if seat == new else Row(rows[seat].context) for new, seat in enumerate(kept)]
        held = {row.context: seat for seat, row in enumerate(mirror.rows)}
    return [held[run.context] for run in runs]


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """How many leading elements are the same."""
    differing = (index for index, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
    return next(differing, min(len(left), len(right)))
