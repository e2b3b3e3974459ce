"""When a batch goes to the device: rule Q9, but for whom it waits.

The rule counts: it waits until as many contexts are runnable as at its high-water mark, which falls by one per batch.
After 32 programs have ended, one that is left would wait in 31 batches for as long as each takes. Here the contexts of
the last two batches are awaited by name, and only while they live and their programs may go on with them at once: not
those that were forked since, nor those whose text has ended.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec


class FireNow(msgspec.Struct, frozen=True):
    """Run the batch."""


class WaitSeconds(msgspec.Struct, frozen=True):
    """Look again after at most `seconds`: more contexts may become runnable."""

    seconds: float


class FiringState(msgspec.Struct, frozen=True):
    """What the rule remembers of the last two batches: who was in them, and their wall times once two are completed.

    Two, because of programs that take turns: each misses every other batch.
    """

    recent: tuple[frozenset[int], ...] = ()
    batch_seconds: tuple[float, ...] = ()
    completed_batches: int = 0

    @property
    def last_batch_seconds(self) -> float:
        """What one more batch would cost: the shorter time, as a long prefill says nothing of a decoding step."""
        return min(self.batch_seconds, default=0.0)

    def fired(self, contexts: Iterable[int]) -> "FiringState":
        """After a fire of `contexts`."""
        return msgspec.structs.replace(self, recent=(frozenset(contexts), *self.recent[:1]))

    def completed(self, seconds: float) -> "FiringState":
        """After a batch took `seconds`. The first one is warm-up and sets nothing."""
        times = (seconds, *self.batch_seconds[:1]) if self.completed_batches else ()
        return msgspec.structs.replace(self, batch_seconds=times, completed_batches=self.completed_batches + 1)

    def missing(self, runnable: Iterable[int]) -> frozenset[int]:
        """Contexts of the last two batches that are not `runnable`."""
        return frozenset[int]().union(*self.recent).difference(runnable)


def when_to_fire(
    state: FiringState,
    runnable: Sequence[int],
    may_return: Callable[[int], bool],
    max_batch_contexts: int,
    oldest_seconds: float,
) -> FireNow | WaitSeconds:
    """Whether to run the `runnable` contexts, one at least, or to wait for others of the last two batches.

    `may_return` says of a context whether its program alone decides when it comes back, and may do so at once.
    `oldest_seconds` have passed since the oldest became runnable.
    """
    if len(runnable) >= max_batch_contexts or oldest_seconds >= state.last_batch_seconds:
        return FireNow()
    if not any(map(may_return, state.missing(runnable))):
        return FireNow()
    return WaitSeconds(state.last_batch_seconds - oldest_seconds)


def is_stalled(state: FiringState, quiet_seconds: float) -> bool:
    """Whether waiting contexts may stop waiting for programs to run (`View.stalled`).

    `quiet_seconds` have passed since something was last runnable. One batch time of grace lets programs
    answer the results of a batch before their pages count as idle.
    """
    return quiet_seconds >= state.last_batch_seconds
