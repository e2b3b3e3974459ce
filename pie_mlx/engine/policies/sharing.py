"""How users share the device: in one batch while that gives each its share, else in turns (Q8).

A user who has N contexts with work must not get N shares of the device. Where a further row costs next to nothing, as
on a GPU, one batch of everybody is best for all. Where it costs, each user gets the same time. Which of the two holds
is measured: by turns, what a step of each user takes alone; together, what each one gets.
"""

import math
from bisect import bisect_left
from collections.abc import Collection, Mapping

import msgspec
from msgspec.structs import replace

TURN_SECONDS = 0.03
"""A turn ends once its user has used so much more than the one who used least: two frames of a screen."""

MOST_CREDIT_SECONDS = 0.25
"""The most by which a user can lag behind others after time in which it wanted nothing."""

WINDOW_SECONDS = 0.1
"""What users get of shared batches is judged over so much time at least, and twice as much before it is too little: a
stall of the machine says nothing."""

FEWEST_TURNS_SECONDS, MOST_TURNS_SECONDS = 0.2, 6.4
"""How long users take turns before one batch of all is tried again: twice as long each time that this was no good."""

TRIAL_SHARE = 1 / 16
"""The largest part of the time of turns that trials may take."""

FEWEST_TOGETHER_SECONDS, MOST_TOGETHER_SECONDS = 4.0, 64.0
"""How long shared batches are good before turns tell anew what each user would have alone: twice as long each time."""


class UserTurns(msgspec.Struct, frozen=True):
    """The device time that each user has used in turns, in seconds, whose turn it is, and who has work.

    Of users who all have work, none has used more than `MOST_CREDIT_SECONDS`, or `TURN_SECONDS` and one batch if that
    is longer, beyond another. So each gets its share of the time, but for as much.
    """

    used: Mapping[str, float] = {}
    holder: str = ""
    users: Collection[str] = ()

    def given(self, users: Collection[str]) -> "UserTurns":
        """The turns with one of `users`, who all have work, as the holder: the one who has used least, unless the
        present turn is not over."""
        floor = max(self.used.values(), default=0.0) - MOST_CREDIT_SECONDS
        returned = {user: max(self.used.get(user, floor), floor) for user in users if user not in self.users}
        used = {**self.used, **returned}
        first = min(users, key=lambda user: (used[user], user))
        goes_on = self.holder in users and used[self.holder] < used[first] + TURN_SECONDS
        return UserTurns(used, self.holder if goes_on else first, users)

    def seconds_left(self, users: Collection[str]) -> float:
        """How long the turn of the holder may still last, with these `users` at work."""
        others = [self.used[user] for user in users if user != self.holder]
        return min(others, default=math.inf) + TURN_SECONDS - self.used[self.holder]

    def charged(self, seconds: float, others: Mapping[str, float] = {}) -> "UserTurns":
        """After the holder used so much, and `others`, who are known, so much of its turn. Users without work who used
        so little that it makes no difference are forgotten."""
        costs = {**others, self.holder: seconds}
        used = {**self.used, **{user: self.used.get(user, 0.0) + cost for user, cost in costs.items()}}
        floor = max(used.values()) - MOST_CREDIT_SECONDS
        return replace(self, used={user: one for user, one in used.items() if user in self.users or one > floor})


class SharingMode(msgspec.Struct, frozen=True):
    """Whether users share batches or take turns, since and until when (seconds of any clock), and how long either is to
    last the next time.

    `due` is a user's share of the time of the shared batches of this window, and `got` how long what was computed for
    it would have taken it alone.
    """

    together: bool = True
    since: float = -math.inf
    until: float = math.inf
    turns_seconds: float = FEWEST_TURNS_SECONDS
    together_seconds: float = FEWEST_TOGETHER_SECONDS
    due: Mapping[str, float] = {}
    got: Mapping[str, float] = {}

    @staticmethod
    def measuring(now: float) -> "SharingMode":
        """The mode at first: turns, to measure what a step takes."""
        return SharingMode(False, now, now + FEWEST_TURNS_SECONDS)

    def after_shared(self, now: float, seconds: float, got: Mapping[str, float]) -> "SharingMode":
        """After a shared batch, and `seconds` since the one before. `got` has all users with work, and for each how
        long its rows would have taken it alone."""
        share = seconds / len(got)
        due = {**self.due, **{user: self.due.get(user, 0.0) + share for user in got}}
        total = {**self.got, **{user: self.got.get(user, 0.0) + value for user, value in got.items()}}
        if math.isinf(self.since):  # the first one
            return replace(self, since=now, until=now + self.together_seconds)
        too_little = any(total[user] < due[user] for user in due)
        if now - self.since < (2 * WINDOW_SECONDS if too_little else WINDOW_SECONDS):
            return replace(self, due=due, got=total)
        if too_little:
            lasts = max(self.turns_seconds, (now - self.since) / TRIAL_SHARE)
            return SharingMode(False, now, now + lasts, min(2 * lasts, MOST_TURNS_SECONDS))
        if now < self.until:
            return replace(self, since=now, due={}, got={})
        longer = min(2 * self.together_seconds, MOST_TOGETHER_SECONDS)
        return SharingMode(False, now, now + FEWEST_TURNS_SECONDS, together_seconds=longer)

    def after_turn(self, now: float) -> "SharingMode":
        """The mode after a batch of one user."""
        if now < self.until:
            return self
        return SharingMode(True, now, now + self.together_seconds, self.turns_seconds, self.together_seconds)


def rows_of_each(wanted: Collection[int], most_rows: int) -> int:
    """How many of `most_rows` rows each user may have, so that users with few contexts get rows for all of them."""
    rows = bisect_left(range(1, max(wanted) + 1), True, key=lambda rows: sum(min(n, rows) for n in wanted) > most_rows)
    return max(rows, 1)
