"""A slow engine is left for the other one; nothing else changes."""

from collections.abc import Sequence

import numpy as np
import pytest

from pie_mlx.engine.text.grammar.base import Walk
from pie_mlx.engine.text.grammar.guard import GuardedWalk, ignore
from pie_mlx.engine.text.grammar.masks import PackedMask
from pie_mlx.errors import GrammarError


class Counting(Walk):
    """Takes tokens 0 to 9, remembers them, and lets the clock run while it fills masks."""

    def __init__(self, clock: list[float], seconds: float) -> None:
        self.clock, self.seconds, self.taken = clock, seconds, list[int]()

    def fill(self, row: PackedMask) -> bool:
        self.clock[0] += self.seconds
        row[0] = 0x3FF
        return True

    def push(self, tokens: Sequence[int]) -> int:
        self.taken += tokens
        return len(tokens)

    def pop(self, count: int) -> None:
        del self.taken[len(self.taken) - count :]

    def fork(self) -> "Counting":
        copy = Counting(self.clock, self.seconds)
        copy.taken = list(self.taken)
        return copy

    is_complete = is_exhausted = False  # type: ignore[assignment]


def guarded(seconds: float, other: Walk | None, moves: list[float] | None = None) -> tuple[GuardedWalk, Counting]:
    """`moves` gets the seconds of a mask of every walk that moves."""
    clock = [0.0]
    walk = Counting(clock, seconds)

    def rebuild() -> Walk:
        if other is None:
            raise GrammarError("no")
        return other

    notify = ignore if moves is None else moves.append
    return GuardedWalk(walk, rebuild, notify, clock=lambda: clock[0]), walk


def fill(walk: Walk, times: int) -> None:
    for _ in range(times):
        walk.fill(np.zeros(1, np.uint32))


def test_a_fast_engine_is_kept() -> None:
    other = Counting([0.0], 0)
    moves: list[float] = []
    walk, first = guarded(0.004, other, moves)
    fill(walk, 20)
    walk.push([1])
    assert (first.taken, other.taken) == ([1], [])
    assert moves == []


def test_a_slow_engine_is_left_with_the_tokens_taken_so_far() -> None:
    other = Counting([0.0], 0)
    moves: list[float] = []
    walk, _ = guarded(0.006, other, moves)
    walk.push([1, 2, 3])
    walk.pop(1)
    fill(walk, 8)
    assert moves == pytest.approx([0.006])
    assert other.taken == [1, 2]
    walk.push([4])
    assert other.taken == [1, 2, 4]


def test_a_slow_engine_is_kept_when_the_other_cannot_take_the_grammar() -> None:
    moves: list[float] = []
    walk, first = guarded(1.0, None, moves)
    fill(walk, 9)
    walk.push([5])
    assert (first.taken, moves) == ([5], [])


def test_a_fork_judges_for_itself() -> None:
    other = Counting([0.0], 0)
    walk, first = guarded(1.0, other)
    fill(walk, 7)
    fork = walk.fork()
    fill(fork, 1)
    fork.push([1])
    walk.push([2])
    assert (first.taken, other.taken) == ([2], [1])


def test_what_one_fork_has_shown_to_be_quick_is_not_tried_again() -> None:
    walk, _ = guarded(0.004, None)
    fork = walk.fork()
    assert not fork.is_settled
    fill(walk, 8)
    assert fork.is_settled


def test_a_fork_that_moves_says_nothing_of_the_others() -> None:
    walk, _ = guarded(1.0, Counting([0.0], 0))
    fork = walk.fork()
    fill(walk, 8)
    assert not fork.is_settled
