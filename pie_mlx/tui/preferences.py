"""What the monitor keeps between its uses, in a file of its own: the order of each table."""

from pathlib import Path

import msgspec

from pie_mlx.files import SHARED, write_file


class Order(msgspec.Struct, frozen=True):
    """The column that a table is sorted by, empty for the order of its source."""

    column: str
    reverse: bool = False


class _Kept(msgspec.Struct):
    orders: dict[str, Order] = msgspec.field(default_factory=dict[str, Order])


class Preferences:
    """Kept in `file`; only in memory if it is None. A file that cannot be read counts as empty."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._kept = _Kept()
        if file is not None:
            try:
                self._kept = msgspec.json.decode(file.read_bytes(), type=_Kept)
            except (OSError, msgspec.MsgspecError):
                self._kept = _Kept()

    def order(self, table: str) -> Order | None:
        """The order of a table, named by its screen and itself."""
        return self._kept.orders.get(table)

    def keep_order(self, table: str, order: Order) -> None:
        """Raises OSError where the file cannot be written."""
        self._kept.orders[table] = order
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_file(self._file, msgspec.json.format(msgspec.json.encode(self._kept)), SHARED)
