"""The programs of the overview: what lives comes first, requests stand together, ended programs take one row."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from pie_mlx.plural import plural
from pie_mlx.tui.model.views.program_row import LIVING, ORDER, ProgramRow

GROUP = "group:"
"""Begins the id of a row that stands for several programs."""


def is_group(row_id: str) -> bool:
    """Whether a row stands for several programs."""
    return row_id.startswith(GROUP)


def grouped(rows: Sequence[ProgramRow]) -> list[ProgramRow]:
    """`rows`, requests for one endpoint as one row in the place of the first, ended programs as the last row."""
    living = [row for row in rows if row.status in LIVING]
    ended = [row for row in rows if row.status not in LIVING]
    requests: dict[str, list[ProgramRow]] = {}
    for row in living:
        requests.setdefault(row.endpoint or row.id, []).append(row)
    shown = [alike[0] if len(alike) == 1 else _requests(alike) for alike in requests.values()]
    return [*shown, _ended(ended)] if ended else shown


def _requests(rows: Sequence[ProgramRow]) -> ProgramRow:
    """Sums of pages and rates; a page that two of them share counts for both."""
    first = rows[0]
    return msgspec.structs.replace(
        _joined(rows, f"{GROUP}{first.endpoint}", f"{plural(len(rows), 'request')}: {_counted(rows)}"),
        program=first.program,
        endpoint=first.endpoint,
        status=min((row.status for row in rows), key=ORDER.index),
    )


def _ended(rows: Sequence[ProgramRow]) -> ProgramRow:
    latest = rows[0]
    result = f": {latest.reason}" if latest.reason else ""
    reason = f"{_counted(rows)}; latest {latest.endpoint or latest.program}{result}"
    return _joined(rows, f"{GROUP}ended", reason)


def _joined(rows: Sequence[ProgramRow], row_id: str, reason: str) -> ProgramRow:
    return ProgramRow(
        id=row_id,
        username=rows[0].username if len({row.username for row in rows}) == 1 else "",
        program=f"{len(rows)} ended",
        status=rows[0].status,
        reason=reason,
        contexts=sum(row.contexts for row in rows),
        own=sum(row.own for row in rows),
        shared=sum(row.shared for row in rows),
        balance=0.0,
        bid=max(row.bid for row in rows),
        rate=sum(row.rate for row in rows),
        tokens=sum(row.tokens for row in rows),
        age_seconds=rows[0].age_seconds,
    )


def _counted(rows: Sequence[ProgramRow]) -> str:
    counts = Counter(row.status for row in rows)
    return ", ".join(f"{counts[status]} {status}" for status in ORDER if counts[status])
