"""What drafts lose and save in the long run, with simulated times."""

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pie_mlx.engine.speculation.drafting import Allowance, Pace, Tick, WindowCost

PLAIN_SECONDS = 0.01


@dataclass
class Simulation:
    """Streams that find something to draft at every step, `share` of it right.

    The first window of a batch takes `first` more of a plain batch, each other one `more`.
    """

    streams: int
    first: float
    more: float
    share: float = 0.0
    cost: WindowCost = field(default_factory=WindowCost)
    allowance: Allowance = field(default_factory=Allowance)
    seconds: float = 0.0
    saved: int = 0

    def run(self, ticks: int) -> "Simulation":
        paces = [Pace() for _ in range(self.streams)]
        for _ in range(ticks):
            self.tick(paces)
        return self

    def tick(self, paces: list[Pace]) -> None:
        cost = self.cost.steps(self.streams)
        may_try = [self.allowance.step() for _ in paces]
        drafting = [pace for pace, may in zip(paces, may_try, strict=True) if may or pace.pays(cost)]
        drafts, windows = sum(pace.length for pace in drafting), len(drafting)
        seconds = PLAIN_SECONDS * (1 + (self.first + self.more * (windows - 1) if windows else 0.0))
        self.cost.observe(Tick(self.streams, self.streams + drafts, windows, drafts, seconds))
        self.seconds += seconds
        for pace in drafting:
            right = round(pace.length * self.share)
            self.saved += right
            pace.learn(pace.length, right)
            self.allowance.learn(right, self.cost.steps(self.streams))

    def slowdown(self, ticks: int) -> float:
        return self.seconds / (ticks * PLAIN_SECONDS) - 1


@pytest.mark.parametrize("streams", [1, 8])
@pytest.mark.parametrize(("first", "more"), [(0.1, 0.02), (0.5, 0.1), (1.0, 0.3), (2.0, 0.5)])
def test_drafts_that_are_never_right_lose_less_than_a_twentieth(streams: int, first: float, more: float) -> None:
    assert Simulation(streams, first, more).run(400).slowdown(400) < 0.05


@example(streams=2, first=0.01953125, more=0.25)
@given(st.integers(1, 16), st.floats(0, 2), st.floats(0, 0.5))
def test_ever_new_streams_lose_no_more_than_old_ones(streams: int, first: float, more: float) -> None:
    simulation = Simulation(streams, first, more)
    for _ in range(20):
        simulation.run(60)
    assert simulation.slowdown(1200) < 0.05


@pytest.mark.parametrize("streams", [1, 8])
def test_after_cheap_successes_everybody_drafts(streams: int) -> None:
    simulation = Simulation(streams, 0.4, 0.1, share=1.0).run(60)
    assert simulation.saved > 10 * 60 * streams * 0.8


@pytest.mark.parametrize("streams", [1, 8])
def test_drafts_that_are_right_but_dear_are_given_up(streams: int) -> None:
    simulation = Simulation(streams, 20.0, 20.0, share=1.0).run(10)
    assert simulation.slowdown(10) <= 2.0 + 20.0 * streams
