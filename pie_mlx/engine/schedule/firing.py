"""When a batch goes to the device: rule Q9."""

import msgspec


class FireNow(msgspec.Struct, frozen=True):
    """Run the batch."""


class WaitSeconds(msgspec.Struct, frozen=True):
    """Look again after at most `seconds`: more contexts may become runnable."""

    seconds: float


class FiringState(msgspec.Struct, frozen=True):
    """What the rule remembers: the high-water mark H, the wall time L of the last batch and the batches so far."""

    high_water_contexts: int = 0
    last_batch_seconds: float = 0.0
    completed_batches: int = 0

    def fired(self, contexts: int) -> "FiringState":
        """After a fire of `contexts` contexts."""
        mark = contexts if contexts >= self.high_water_contexts else self.high_water_contexts - 1
        return msgspec.structs.replace(self, high_water_contexts=mark)

    def completed(self, seconds: float) -> "FiringState":
        """After a batch took `seconds`. The first one is warm-up and sets nothing."""
        last = seconds if self.completed_batches else self.last_batch_seconds
        return msgspec.structs.replace(self, last_batch_seconds=last, completed_batches=self.completed_batches + 1)


def when_to_fire(
    state: FiringState, runnable_contexts: int, max_batch_contexts: int, oldest_seconds: float
) -> FireNow | WaitSeconds:
    """Whether to run `runnable_contexts` >= 1 now; `oldest_seconds` have passed since the oldest became runnable."""
    full = runnable_contexts >= min(max_batch_contexts, max(state.high_water_contexts, 1))
    if full or state.high_water_contexts == 0 or oldest_seconds >= state.last_batch_seconds:
        return FireNow()
    return WaitSeconds(state.last_batch_seconds - oldest_seconds)


def is_stalled(state: FiringState, in_flight: bool, runnable_contexts: int, quiet_seconds: float) -> bool:
    """Whether waiting contexts may stop waiting for programs to run (`View.stalled`).

    `quiet_seconds` have passed since something was last in flight or runnable. One batch time of grace lets programs
    answer the results of a batch before their pages count as idle.
    """
    return not in_flight and runnable_contexts == 0 and quiet_seconds >= state.last_batch_seconds
