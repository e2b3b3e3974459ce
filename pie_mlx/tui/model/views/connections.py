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
    """One for each connection; and one for each user with programs and no connection.

    Each living program counts once: for the connection that it is attached to, or else for the first of its user.
    """
    connections = facts.connections or ()
    first = {each.username: each.id for each in reversed(connections)}
    attached = {name: each.id for each in connections for name in each.attached}
    counted: dict[str, list[ProgramRow]] = {}
    for row in rows:
        key = attached.get(row.id) or first.get(row.username) or f"user {row.username}"
        counted.setdefault(key, []).append(row)
    connected = [
        _connection_row(each.id, each.username, each.address, len(each.attached), counted.pop(each.id, []))
        for each in connections
    ]
    return [*connected, *(_connection_row(key, own[0].username, "", 0, own) for key, own in counted.items())]


def _connection_row(key: str, username: str, address: str, attached: int, rows: list[ProgramRow]) -> ConnectionRow:
    own = [row for row in rows if row.status in LIVING]
    pages, rate = sum(row.own for row in own), sum(row.rate for row in own)
    return ConnectionRow(key, username, address, attached, len(own), pages, rate)
