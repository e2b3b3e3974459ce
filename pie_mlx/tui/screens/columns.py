"""The columns of tables of programs."""

from pie_mlx.tui.model.text import age, count, credits, rate
from pie_mlx.tui.model.views.program_row import LIVING, ORDER, FamilyRow, ProgramRow
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.palette import STATUS_TONES

MARKS = {
    "running": "●",
    "restoring": "◍",
    "waiting": "◐",
    "suspended": "◌",
    "idle": "·",
    "returned": "✓",
    "failed": "✗",
    "killed": "■",
}

Programs = Column[ProgramRow]


def tone_of(row: ProgramRow, tone: str = "") -> str:
    """Ended programs are muted."""
    return tone if row.status in LIVING else "muted"


def status(row: ProgramRow) -> list[Piece]:
    tone = STATUS_TONES[row.status]
    return [Piece(f"{MARKS[row.status]} ", tone), Piece(row.status, tone)]


def mark(row: ProgramRow) -> Piece:
    return Piece(MARKS[row.status], STATUS_TONES[row.status])


def program(row: ProgramRow) -> list[Piece]:
    """The endpoint of a request says more than the program that answers it."""
    if row.endpoint:
        return [Piece(row.endpoint, tone_of(row, "bright"))]
    name, _, version = row.program.partition("@")
    return [Piece(name, tone_of(row, "bright")), Piece(f"@{version}" if version else "", "muted")]


def pages(number: int, row: ProgramRow) -> Piece:
    return Piece(f"{number}" if number else "·", tone_of(row) if number else "faint")


def amount(text: str, row: ProgramRow) -> Piece:
    return Piece(text if text != "0" else "·", tone_of(row) if text != "0" else "faint")


ID = Programs("id", 8, lambda row: Piece(row.short_id, "muted"), lambda row: row.id, show_from=100)
PROGRAM = Programs("program", 20, program, lambda row: row.program, most=36)
USER = Programs(
    "user", 8, lambda row: Piece(row.username, tone_of(row)), lambda row: row.username, show_from=90, most=16
)
STATUS = Programs("state", 11, status, lambda row: ORDER.index(row.status))
CONTEXTS = Programs(
    "ctx", 4, lambda row: pages(row.contexts, row), lambda row: row.contexts, "right", show_from=110, descending=True
)
OWN = Programs("own", 5, lambda row: pages(row.own, row), lambda row: row.own, "right", descending=True)
SHARED = Programs(
    "shared", 6, lambda row: pages(row.shared, row), lambda row: row.shared, "right", show_from=90, descending=True
)
BALANCE = Programs(
    "credits",
    7,
    lambda row: amount(credits(row.balance), row),
    lambda row: row.balance,
    "right",
    show_from=100,
    descending=True,
)
BID = Programs("bid", 6, lambda row: amount(credits(row.bid), row), lambda row: row.bid, "right", descending=True)
RATE = Programs("tok/s", 6, lambda row: amount(rate(row.rate), row), lambda row: row.rate, "right", descending=True)
AGE = Programs(
    "age", 5, lambda row: Piece(age(row.age_seconds), "muted"), lambda row: row.age_seconds, "right", descending=True
)
REASON = Programs("reason", 0, lambda row: Piece(row.reason, "bad" if row.status == "failed" else "muted"))

OVERVIEW = (PROGRAM, USER, STATUS, CONTEXTS, OWN, SHARED, BALANCE, BID, RATE, REASON)
FAMILY = Column[FamilyRow](
    "program", 20, lambda row: [Piece(row.branches, "faint"), *program(row)], lambda row: row.program, most=36
)
SPENT = Programs(
    "spent",
    6,
    lambda row: amount(credits(row.spent), row),
    lambda row: row.spent,
    "right",
    show_from=120,
    descending=True,
)
TOKENS = Programs(
    "tokens", 6, lambda row: amount(count(row.tokens), row), lambda row: row.tokens, "right", 120, descending=True
)
INFERLETS: tuple[Column[FamilyRow], ...] = (
    ID,
    FAMILY,
    USER,
    STATUS,
    CONTEXTS,
    OWN,
    SHARED,
    SPENT,
    BALANCE,
    BID,
    TOKENS,
    RATE,
    AGE,
    REASON,
)
"""`reason` takes the remaining width."""
