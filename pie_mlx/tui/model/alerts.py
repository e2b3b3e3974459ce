"""Conditions on the figures of an engine, which ring a bell or end `pie top --until`."""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.tui.model.state import MonitorState
from pie_mlx.tui.model.views.program_row import LIVING, Status, program_rows

MEMORY_LEVELS = ("normal", "warning", "critical")

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_WRITTEN = re.compile(r"\s*([a-z_]+)\s*(>=|<=|>|<|=)\s*([0-9.]+)\s*")


def _percent_used(state: MonitorState) -> float:
    """At the model that has the fewest pages left."""
    pages = [pool.pages for pool in state.pools.values() if pool.pages.total]
    return max((100 * one.used / one.total for one in pages), default=0.0)


def _programs(*statuses: Status) -> Callable[[MonitorState], float]:
    """How many programs are in one of these states."""
    return lambda state: sum(row.status in statuses for row in program_rows(state))


FIGURES: Mapping[str, Callable[[MonitorState], float]] = {
    "price": lambda state: max((pool.price for pool in state.pools.values()), default=0.0),
    "pages": _percent_used,
    "programs": _programs(*LIVING),
    "waiting": _programs("waiting", "suspended", "restoring"),
    "failed": _programs("failed"),
    "tokens": lambda state: state.tokens_per_second,
    "latency": lambda state: state.latency_seconds,
    "memory": lambda state: MEMORY_LEVELS.index(state.memory),
}
"""By the names that docs/monitor.md explains."""


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
        return FIGURES[self.figure](state)

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
