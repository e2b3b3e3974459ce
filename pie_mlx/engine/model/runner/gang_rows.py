"""Contexts of one step whose rows a rule joins: the first one draws a token, and all of them go on with it."""

from dataclasses import dataclass, field

from pie_mlx.engine.model.runner.batch import EntryResult, Reads, SharedDraw
from pie_mlx.errors import BatchFailedError


@dataclass(slots=True)
class GangRows:
    """The places of its `first` context and of its `followers` among those of the step, and the followers' rows among
    the logits, as the rule orders them."""

    first: int = 0
    followers: list[int] = field(default_factory=list[int])
    rows_by_place: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def rows(self) -> tuple[int, ...]:
        return tuple(self.rows_by_place[place] for place in sorted(self.rows_by_place))

    def share(self, results: list[EntryResult]) -> None:
        """Give all contexts what the first one drew, or the error of any."""
        contexts = [self.first, *self.followers]
        failed = [results[place] for place in contexts if isinstance(results[place], BatchFailedError)]
        for place in contexts:
            results[place] = [*failed, results[self.first]][0]


def gangs_of(reads: Reads) -> dict[int, GangRows]:
    """The gangs of a step, by the number of their first context."""
    found: dict[int, GangRows] = {}
    for place, own in enumerate(reads):
        for row, read in own:
            if read.gang:
                gang = found.setdefault(read.gang, GangRows())
                if isinstance(read.read, SharedDraw):
                    gang.followers.append(place)
                    gang.rows_by_place[read.read.place] = row
                else:
                    gang.first = place
    return found
