"""Which launch roots may start: what each claims of the pool (Q11)."""

import itertools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from pie_mlx.engine.schedule import Admission, AdmissionTerms, check_claim, end_launch, request_launch

Endowment = Callable[[int | None], float]
"""The credits of a launch with a token budget, or with none."""


@dataclass(slots=True)
class LaunchAdmission:
    """Launch roots are named by the id of their process. A claim lasts until `end`."""

    terms: AdmissionTerms
    endowment: Endowment
    _state: Admission = field(default_factory=Admission)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _number_of: dict[str, int] = field(default_factory=dict[str, int])
    _root_of: dict[int, str] = field(default_factory=dict[int, str])

    def check(self, token_budget: int | None) -> None:
        """Raises AdmissionError for a launch that can never start."""
        check_claim(self.terms, self.endowment(token_budget))

    def request(self, root: str, token_budget: int | None) -> list[str]:
        """Take a launch in; the roots that may start now, in their order. Raises what `check` raises."""
        number = next(self._numbers)
        self._state, started = request_launch(self._state, self.terms, number, self.endowment(token_budget))
        self._number_of[root], self._root_of[number] = number, root
        return self._roots(started)

    def end(self, root: str) -> list[str]:
        """A root and all it launched have ended, or it is given up before it started; the roots that may start now."""
        number = self._number_of.pop(root, None)
        if number is None:
            return []
        del self._root_of[number]
        self._state, started = end_launch(self._state, self.terms, number)
        return self._roots(started)

    def reason(self) -> str:
        """Why the launches that wait have to wait."""
        limit = self._state.resume_below
        until = "" if limit is None else f"; launches go on when those have fallen to {limit:,.0f}"
        return (
            f"queued: running launches claim {self._state.claimed:,.0f} of the {self.terms.cap:,.0f} pages that may be "
            f"promised{until}"
        )

    def check_integrity(self, live: Collection[str]) -> None:
        """Raises RuntimeError when a claim belongs to none of the `live` roots."""
        known = {*self._state.claims, *(launch.account for launch in self._state.queue)}
        if known != set(self._root_of) or any(root not in live for root in self._number_of):
            raise RuntimeError("admission: there are claims of launches that are over")

    def _roots(self, numbers: Iterable[int]) -> list[str]:
        return [self._root_of[number] for number in numbers]
