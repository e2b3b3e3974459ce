"""The users of an engine, with their connections and programs."""

import msgspec

from pie_mlx.tui.model.facts import Facts
from pie_mlx.tui.model.views.program_row import LIVING, ProgramRow


class ConnectionRow(msgspec.Struct, frozen=True):
    """A user, or one connection of a user where the source knows connections."""

    key: str
    username: str
    address: str
    attached: int
    programs: int
    pages: int
    rate: float


def connection_rows(facts: Facts, rows: list[ProgramRow]) -> list[ConnectionRow]:
    """One for each connection; and one for each user with programs and no connection."""
    connected = [
        _connection_row(connection.id, connection.username, connection.address, len(connection.attached), rows)
        for connection in facts.connections or ()
    ]
    names = {row.username for row in connected}
    others = [name for name in dict.fromkeys(row.username for row in rows) if name not in names]
    return [*connected, *(_connection_row(f"user {name}", name, "", 0, rows) for name in others)]


def _connection_row(key: str, username: str, address: str, attached: int, rows: list[ProgramRow]) -> ConnectionRow:
    own = [row for row in rows if row.username == username and row.status in LIVING]
    pages, rate = sum(row.own for row in own), sum(row.rate for row in own)
    return ConnectionRow(key, username, address, attached, len(own), pages, rate)
