"""What verifying drafts takes, measured."""

import statistics
from collections import deque
from dataclasses import dataclass

REMEMBERED = 15
"""Times that count as the latest."""

TRUSTED = 3
"""Times from which a kind of batch is judged by its own; the first of a kind may be that of something made for it."""

SUPPOSED = 0.5
"""What a window is taken to add to the time of a batch before that was measured several times."""


class Lately:
    """The median of the latest values, so that a stall of the machine says nothing."""

    def __init__(self) -> None:
        self._values: deque[float] = deque(maxlen=REMEMBERED)
        self.median: float | None = None
        """None before the first."""

    def add(self, value: float) -> None:
        """The latest one."""
        self._values.append(value)
        self.median = statistics.median(self._values)

    def add_to_last(self, value: float) -> None:
        """The latest one was larger by so much."""
        self.add(self._values.pop() + value)

    @property
    def low(self) -> float:
        """Three quarters are no lower."""
        return sorted(self._values)[len(self._values) // 4]

    @property
    def trusted(self) -> bool:
        """Whether there are several."""
        return len(self._values) >= TRUSTED


@dataclass(frozen=True, slots=True)
class Tick:
    """A batch of `tokens` tokens, `drafts` of them in `windows` windows, and the seconds since the one before it, but
    for those in which these drafts were made."""

    contexts: int
    tokens: int
    windows: int
    drafts: int
    seconds: float


class WindowCost:
    """What a window of drafts takes, from ticks with and without windows. All streams of an engine share it.

    Several windows in one batch need not take several times what one takes: their price is that of batches with as
    many as the latest had.
    """

    def __init__(self) -> None:
        self._plain: dict[int, Lately] = {}
        self._extra = Lately()
        self._extra_among: dict[int, Lately] = {}
        self._extra_of: dict[int, Lately] = {}
        self._windows = 0
        self._latest: tuple[Lately, ...] = ()

    def observe(self, tick: Tick) -> None:
        """Learn from a tick in which every context ran one token, and the drafts after it."""
        if tick.tokens != tick.contexts + tick.drafts:
            return
        latest, self._latest = self._latest, ()
        plain = self.plain_seconds(tick.contexts)
        if not tick.windows:
            # After a window no step is in flight: the next one takes longer than plain decoding does.
            if not latest or tick.contexts not in self._plain:
                self._plain.setdefault(tick.contexts, Lately()).add(tick.seconds)
            elif plain is not None:
                for extra in latest:
                    extra.add_to_last(max(0.0, tick.seconds - plain) / self._windows)
        elif plain is not None:
            self._windows = tick.windows
            length = round(tick.drafts / tick.windows)
            kinds = self._extra, self._extra_among.setdefault(tick.windows, Lately()), self._of(length)
            for extra in kinds:
                extra.add(max(0.0, tick.seconds - plain) / tick.windows)
            self._latest = kinds

    def plain_seconds(self, contexts: int) -> float | None:
        """What a tick without drafts takes lately, for that many contexts or for the nearest number that is known."""
        if not self._plain:
            return None
        if contexts in self._plain:
            return self._plain[contexts].median
        return self._plain[min(self._plain, key=lambda known: abs(known - contexts))].median

    def knows_plain(self, contexts: int) -> bool:
        """Whether ticks without drafts, of that many contexts, were measured several times."""
        return contexts in self._plain and self._plain[contexts].trusted

    def line(self) -> tuple[float, float] | None:
        """What a tick without drafts takes: so many seconds, and so many more for each context; None while unknown."""
        medians = {contexts: lately.median for contexts, lately in self._plain.items() if lately.median is not None}
        if len(medians) < 2:
            return None
        each, fixed = statistics.linear_regression(list(medians), list(medians.values()))
        return max(0.0, fixed), max(0.0, each)

    def steps(self, contexts: int, drafts: int | None = None) -> float:
        """What one window takes, in plain steps of one of the `contexts` that all wait for it; one of that many
        `drafts`, if it is known."""
        among = self._extra_among.get(self._windows, self._extra)
        chosen = among if among.trusted else self._extra
        if drafts is not None and self._windows <= 1 and self._of(drafts).trusted:
            chosen = self._of(drafts)
        extra, plain = chosen.median, self.plain_seconds(contexts)
        added = extra / plain if extra is not None and plain and chosen.trusted else SUPPOSED
        return added / self._saved(max(contexts, 1))

    def _of(self, drafts: int) -> Lately:
        return self._extra_of.setdefault(drafts, Lately())

    def _saved(self, contexts: int) -> float:
        """What a step that one of the `contexts` need not take saves, as a share of the plain tick.

        The batch is computed for the others anyway: as much less as a smaller batch took, and half of an equal share
        where that says little.
        """
        share, fewest = 1 / contexts, min(self._plain, default=contexts)
        fewer, plain = self.plain_seconds(fewest), self.plain_seconds(contexts)
        if fewest >= contexts or not fewer or not plain:
            return share
        return min(share, max(share / 2, (1 - fewer / plain) / (contexts - fewest)))
