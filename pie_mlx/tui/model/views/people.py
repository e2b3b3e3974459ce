"""Who uses the engine: users, their connections and their programs."""

import msgspec

from pie_mlx.tui.model.facts import Facts
from pie_mlx.tui.model.views.program_row import ORDER, ProgramRow


class Person(msgspec.Struct, frozen=True):
    """A user, or one connection of a user where the source tells connections."""

    key: str
    username: str
    address: str
    attached: int
    programs: int
    pages: int
    rate: float


def people(facts: Facts, rows: list[ProgramRow]) -> list[Person]:
    """One for each connection; and one for each user with programs and no connection."""
    connected = [
        _person(connection.id, connection.username, connection.address, len(connection.attached), rows)
        for connection in facts.connections or ()
    ]
    names = {person.username for person in connected}
    others = [name for name in dict.fromkeys(row.username for row in rows) if name not in names]
    return [*connected, *(_person(f"user {name}", name, "", 0, rows) for name in others)]


def _person(key: str, username: str, address: str, attached: int, rows: list[ProgramRow]) -> Person:
    own = [row for row in rows if row.username == username and row.status in ORDER[:4]]
    pages, rate = sum(row.own for row in own), sum(row.rate for row in own)
    return Person(key, username, address, attached, len(own), pages, rate)
