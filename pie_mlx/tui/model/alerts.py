"""Conditions on the figures of an engine, which ring a bell or end `pie top --until`."""

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.tui.model.state import MonitorState
from pie_mlx.tui.model.views.program_row import LIVING, ProgramRow, program_rows

MEMORY_LEVELS = ("normal", "warning", "critical")

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_WRITTEN = re.compile(r"\s*([a-z_]+)\s*(>=|<=|>|<|=)\s*([0-9.]+)\s*")

Figure = Callable[[MonitorState, Counter[str]], float]

FIGURES: Mapping[str, tuple[Figure, str]] = {
    "price": (lambda state, counts: state.price, "clearing price in credits per page and tick"),
    "pages": (
        lambda state, counts: 100 * state.pages.used / state.pages.total if state.pages.total else 0.0,
        "percent of the pool in use",
    ),
    "programs": (lambda state, counts: sum(counts[status] for status in LIVING), "living programs"),
    "waiting": (lambda state, counts: counts["waiting"] + counts["suspended"], "programs that wait or are suspended"),
    "failed": (lambda state, counts: counts["failed"], "programs that failed, of those that are remembered"),
    "tokens": (lambda state, counts: state.tokens_per_second, "decoded tokens per second"),
    "latency": (lambda state, counts: state.latency_seconds, "seconds from a request to its answer, the median"),
    "memory": (
        lambda state, counts: MEMORY_LEVELS.index(state.memory),
        "the system's memory: 0 normal, 1 warning, 2 critical",
    ),
}
"""By name: the figure, and what it is."""


@dataclass(frozen=True, slots=True)
class Alert:
    """A condition such as `price > 1`."""

    figure: str
    comparison: str
    threshold: float

    def __str__(self) -> str:
        return f"{self.figure} {self.comparison} {self.threshold:g}"

    def value(self, state: MonitorState) -> float:
        """The figure in this state."""
        rows: list[ProgramRow] = program_rows(state)
        return FIGURES[self.figure][0](state, Counter(row.status for row in rows))

    def holds(self, state: MonitorState) -> bool:
        """Whether the condition is met."""
        return _COMPARISONS[self.comparison](self.value(state), self.threshold)


def alert(written: str) -> Alert:
    """Reads `price > 1`. Raises InvalidArgumentError."""
    found = _WRITTEN.fullmatch(written)
    try:
        threshold = float(found[3]) if found is not None else math.nan
    except ValueError:
        threshold = math.nan
    if found is None or math.isnan(threshold) or found[1] not in FIGURES:
        raise InvalidArgumentError(
            f"condition '{written}': it is not a figure, a comparison and a number",
            hint=f"write for example 'price>1'; figures: {', '.join(FIGURES)}",
        )
    return Alert(found[1], found[2], threshold)
