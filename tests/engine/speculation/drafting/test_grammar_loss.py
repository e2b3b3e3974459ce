"""What looking and guessing under a grammar lose and save in the long run, with simulated prices."""

import random
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.speculation.drafting import BEGIN_STEPS, Allowance, LookAllowance, Pace

MOST_AT_ONCE = 32
"""Steps that follow one another without a pass that begins anew."""

EVERY = 8
"""Tokens from one place where a grammar has a guess to the next."""


@dataclass
class Grammars:
    """Streams in step that write texts of `length` tokens. At each EVERY-th one a grammar guesses `guessed` tokens, and
    all are right at a rate; a window takes `window` steps of one stream, and the others wait for its begin."""

    streams: int
    length: int
    rate: float
    window: float
    guessed: int = 4
    allowance: Allowance = field(default_factory=Allowance)
    chance: random.Random = field(default_factory=lambda: random.Random(5))
    steps: float = 0.0
    tokens: int = 0

    def write(self, tokens: int) -> "Grammars":
        while self.tokens < tokens:
            for pace in [Pace() for _ in range(self.streams)]:
                self._write_text(pace)
        return self

    def _write_text(self, pace: Pace) -> None:
        begin = BEGIN_STEPS * self.streams
        for _ in range(0, self.length, EVERY):
            may_try = self.allowance.step()
            if not (may_try or (pace.pays(self.window) and not self.allowance.overdrawn)):
                self._count(EVERY, EVERY)
                continue
            right = self.guessed if self.chance.random() < self.rate else 0
            pace.learn(self.guessed, right, begin)
            self.allowance.learn(right, begin + self.window)
            self._count(EVERY, EVERY - right + begin + self.window)

    def _count(self, tokens: int, steps: float) -> None:
        self.tokens, self.steps = self.tokens + tokens, self.steps + steps
        self.allowance.went_on(EVERY - 1)

    @property
    def time(self) -> float:
        """Of a token, in plain steps."""
        return self.steps / self.tokens


@given(st.integers(1, 16), st.integers(16, 200), st.floats(0, 1), st.floats(0.05, 4))
def test_guesses_of_a_grammar_never_cost_more_than_three_hundredths(
    streams: int, length: int, rate: float, window: float
) -> None:
    # Before it shows that they do not pay, they may lose a few steps, and once those of one failure more.
    assert Grammars(streams, length, rate, window).write(12000).time < 1.03


def test_one_stream_gains_by_what_its_grammar_makes_follow() -> None:
    assert Grammars(1, 48, 0.9, 0.5).write(2400).time < 0.75


def test_eight_streams_lose_nothing_by_guesses_that_would_keep_the_others_waiting() -> None:
    texts = Grammars(8, 48, 0.9, 4.0).write(12000)
    assert 1 < texts.time < 1.03


@given(st.integers(1, 16), st.integers(1, MOST_AT_ONCE))
def test_looks_that_find_nothing_cost_no_more_than_three_hundredths(streams: int, at_once: int) -> None:
    looks, lost, steps, price = LookAllowance(), 0.0, 0, BEGIN_STEPS * streams
    for tick in range(4000):
        looked = [looks.look(tick, price, pays=False) for _ in range(streams)]
        lost += price * any(looked)
        taken = 1 if any(looked) else at_once
        looks.went_on(taken * streams)
        steps += taken * streams
    assert lost < 0.03 * steps


def test_all_streams_of_a_batch_look_for_the_price_of_one() -> None:
    looks = LookAllowance()
    assert all(looks.look(3, 5.6, pays=False) for _ in range(8))
    assert not looks.look(4, 5.6, pays=False)
    looks.went_on(224)
    assert looks.look(5, 5.6, pays=False)


def test_streams_whose_looks_pay_look_until_all_that_was_saved_is_lost() -> None:
    looks, ticks = LookAllowance(), 0
    while looks.look(ticks, 1.0, pays=True):
        ticks += 1
    assert ticks == 13
