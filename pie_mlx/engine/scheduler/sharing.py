"""Whose passes run now if several users have some: those of all in one batch, or those of one user in turn."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from pie_mlx.engine.policies import Chunk, Limits, SharingMode, UserTurns, paced, rows_of_each
from pie_mlx.engine.policies.sharing import TURN_SECONDS
from pie_mlx.engine.scheduler.tick_batch import Chunks
from pie_mlx.engine.scheduler.tick_state import ATOMIC_TOKENS, TickState, Turn
from pie_mlx.engine.speculation.drafting.costs import Lately

LONGEST_AWAITED_SECONDS = 0.01
"""The longest wait of the device for the next pass of the user whose turn it is. Waiting longer would help few
programs, and the time is charged to that user."""

SHORTEST_AWAITED_SECONDS = 1e-4


class DeviceSharing:
    """Gives turns (`TickState.turn`) where one batch of all would leave a user less than its share, and charges them.

    For the scheduler's loop. `clock` is monotonic seconds.
    """

    def __init__(self, state: TickState, clock: Callable[[], float] = time.monotonic) -> None:
        self._state, self._clock = state, clock
        self._turns, self._mode = UserTurns(), SharingMode()
        self._since = self._committed = clock()
        """Since when time is not charged yet; when the latest batch was over."""
        self._steps: dict[int, Lately] = {}
        """Seconds of a step of so many contexts, all of one user."""
        self._present: dict[str, int] = {}
        """How many contexts of each user have work."""
        self._left: dict[str, float] = {}
        """When the latest batch of each user was over."""
        self._before = ""
        """The user of the turn before, until the first batch of the present turn is computed, if that was ready at
        once."""

    def select(
        self, passes: Sequence[Chunk], returning: Iterable[int], limits: Limits, rate: float | None
    ) -> tuple[Sequence[Chunk], Limits]:
        """The passes that may run now, and the limits of their batch.

        The contexts `returning` were in the last batches and may come back at once. `rate` is how many tokens of
        prompts are computed in a second. If no pass may run, the batch waits for the next pass of the user whose turn
        it is, for `seconds_to_wait` at most.
        """
        if len(self._state.contexts) < 2 and len(self._present) < 2 and not self._left:
            return passes, paced(limits, passes, rate)
        absent = list(returning)
        self._note_present(passes, absent)
        awaited = [Chunk(number, 1, atomic=True) for number in absent]
        limits = paced(limits, [*passes, *awaited] if len(self._present) > 1 else passes, rate)
        if len(self._present) > 1 and not self._steps and self._mode.together:
            self._mode = SharingMode.measuring(self._clock())
        if len(self._present) > 1 and not self._mode.together:
            return self._in_turns(passes, absent), limits
        if self._state.turn is not None or len(self._present) < 2:
            self.pause()
        if sum(self._present.values()) > limits.max_batch_contexts and len(self._present) > 1:
            rows = rows_of_each(self._present.values(), limits.max_batch_contexts)
            limits = replace(limits, max_user_contexts=rows)
        return passes, limits

    def seconds_to_wait(self) -> float:
        """How long the device waits for the next pass of the user whose turn it is, if there is none; 0 without
        turns."""
        turn = self._state.turn
        return 0.0 if turn is None else max(SHORTEST_AWAITED_SECONDS, turn.awaited_until_seconds - self._clock())

    def steps_left(self, contexts: int) -> float:
        """How many steps of so many contexts the turn has time for; infinite without turns."""
        turn, known = self._state.turn, self._steps.get(contexts)
        seconds = (None if known is None else known.median) or self._state.tick_seconds
        if turn is None or not seconds:
            return math.inf
        return max(0.0, turn.until_seconds - self._clock()) / seconds

    def commit(self, chunks: Chunks, seconds: float, steps: int) -> None:
        """A batch of so many `seconds` and `steps` is computed: charge it, and measure how long steps take.

        Pieces of prompts are not measured: `paced` bounds how long they hold up others.
        """
        now = self._clock()
        since, self._committed = now - self._committed, now
        is_shared = self._state.turn is None and len(self._present) > 1
        if not is_shared and all([count == 1 for _, count in chunks]):
            waited = min(max(0.0, since - seconds), LONGEST_AWAITED_SECONDS)
            self._steps.setdefault(len(chunks), Lately()).add((seconds + waited) / steps)
        if len(self._present) < 2:
            self._since = now
            return
        rows = Counter([task.context.user for task, _ in chunks])
        if is_shared and all([count <= ATOMIC_TOKENS for _, count in chunks]):
            got = {user: steps * self._seconds_alone(rows[user], wanted) for user, wanted in self._present.items()}
            self._mode = self._mode.after_shared(now, since, got)
        for user in rows:
            self._left[user] = now
        self.charge(seconds)

    def charge(self, seconds: float = 0.0) -> None:
        """A batch is over, which took so many `seconds`: charge them, with the wait before it, to the user whose turn
        it is, and to each user what the loop did for it meanwhile."""
        now = self._clock()
        if self._state.turn is not None:
            self._turns = self._charged(now - self._since, seconds)
            self._mode = self._mode.after_turn(now)
        self._since, self._before = now, ""
        self._state.loop_seconds.clear()

    def pause(self) -> None:
        """No user waits for another one: the time until one does is not counted."""
        self._state.turn = None
        self._since, self._before = self._clock(), ""
        self._state.loop_seconds.clear()

    def _charged(self, passed: float, seconds: float) -> UserTurns:
        """The turns, once the time that `passed` is charged, in which a batch took so many `seconds`.

        Work of the loop for other users makes a batch longer, as all share the interpreter: they pay for it. A wait
        beyond the longest one for a program is charged to no user. If the first batch of a turn was ready at once, it
        waited for what programs of the user before did with their replies: that user pays.
        """
        worked, holder = self._state.loop_seconds, self._turns.holder
        others = {user: worked[user] for user in worked.keys() & self._turns.used.keys() - {holder}}
        total = sum(others.values())
        theirs = min(total, passed)
        costs = {user: one * theirs / total for user, one in others.items() if one}
        waited = min(max(0.0, passed - theirs - seconds), LONGEST_AWAITED_SECONDS)
        if self._before:
            costs[self._before] = costs.get(self._before, 0.0) + waited
            own = min(passed - theirs - waited, seconds + worked.get(holder, 0.0))
        else:
            own = min(passed - theirs, seconds + LONGEST_AWAITED_SECONDS + worked.get(holder, 0.0))
        return self._turns.charged(own, costs)

    def _note_present(self, passes: Sequence[Chunk], absent: Sequence[int]) -> None:
        """Note how many contexts each user has at work; users whose last batch was a moment ago count too."""
        contexts = self._state.contexts
        found = Counter(contexts[number].user for number in absent)
        for one in passes:
            found[contexts[one.context].user] += one.contexts
        if self._left:
            now = self._clock()
            self._left = {user: left for user, left in self._left.items() if now - left < LONGEST_AWAITED_SECONDS}
            for user in self._left.keys() - found.keys():
                found[user] = self._present.get(user, 1)
        self._present = dict(found)

    def _in_turns(self, passes: Sequence[Chunk], absent: Sequence[int]) -> Sequence[Chunk]:
        contexts, now = self._state.contexts, self._clock()
        awaited_until: dict[str, float] = {}
        for number in absent:
            live = contexts[number]
            until = live.left_seconds + _patience(live.return_seconds)
            awaited_until[live.user] = max(awaited_until.get(live.user, 0.0), until)
        users = {contexts[one.context].user for one in passes}
        users |= {user for user, until in awaited_until.items() if until > now}
        if not users:
            self._state.turn = None
            return ()
        turns, turn = self._turns.given(users), self._state.turn
        if turn is not None and turn.user != turns.holder:  # the loop has worked for that user since its last batch
            self.charge()
            turns = self._turns.given(users)
        self._turns, holder = turns, turns.holder
        chosen = [one for one in passes if contexts[one.context].user == holder]
        if turn is not None and turn.user != holder and chosen:
            self._before = turn.user
        left = min(self._turns.seconds_left(users), TURN_SECONDS)
        self._state.turn = Turn(holder, self._since + left, awaited_until.get(holder, 0.0))
        return chosen

    def _seconds_alone(self, rows: int, wanted: int) -> float:
        """What a step with `rows` of the `wanted` contexts of a user is worth: the seconds that it would have taken
        had that user the device alone. If another number of contexts was measured, the estimate is from below.

        The faster steps count: in turns, the loop works for other users during some of them.
        """
        known = max([count for count in self._steps if count <= wanted], default=min(self._steps))
        return self._steps[known].low * rows / max(wanted, known)


def _patience(return_seconds: float) -> float:
    """How long to wait for a program that usually comes back after so long."""
    return 0.0 if return_seconds > LONGEST_AWAITED_SECONDS else min(2 * return_seconds, LONGEST_AWAITED_SECONDS)
