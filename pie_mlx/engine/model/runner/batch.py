"""What one tick hands to the runner, and what comes back: plain values, no tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from pie_mlx.calls import AnyResult, Probe, SampledTokens, Sampler
from pie_mlx.engine.kv import PageCopy
from pie_mlx.engine.model.step import AdapterUse
from pie_mlx.errors import BatchFailedError

PackedMask = npt.NDArray[np.uint32]
"""Allowed tokens, bit i of word i // 32, one row of ceil(vocabulary / 32) words."""


@dataclass(frozen=True, slots=True)
class LogitsRequest:
    """One reading of row `index` of a piece of work.

    `stream` and `counter` key the random draw (L6); `mask` restricts samplers only, probes see the plain logits (F9).
    """

    index: int
    read: Sampler | Probe
    stream: int = 0
    counter: int = 0
    mask: PackedMask | None = None


class ScheduledTokens(msgspec.Struct, frozen=True):
    """One context's tokens of this tick.

    `slots` are physical (page * page size + offset); `kv_length` counts the slots held after these tokens are written;
    `masks` has one BRLE row per token over KV slots, None for causal. `adapters` has what each token is computed with;
    None when no token has any. Tokens of steps behind the batch go to `further_slots`, which the block table covers.
    """

    context: int
    tokens: Sequence[int]
    positions: Sequence[int]
    slots: Sequence[int]
    block_table: Sequence[int]
    kv_length: int
    masks: Sequence[Sequence[int]] | None = None
    reads: tuple[LogitsRequest, ...] = ()
    adapters: Sequence[AdapterUse] | None = None
    further_slots: Sequence[int] = ()


def is_read_alike(expected: ScheduledTokens, work: ScheduledTokens) -> bool:
    """Whether `work` reads what was expected of its context, without any mask."""
    if work.context != expected.context or any(read.mask is not None for read in work.reads):
        return False
    return work.reads == expected.reads


class StopCondition(Protocol):
    """Decides how many steps follow a batch. Its works draw one token each, at their last input."""

    def advance(self, drawn: Sequence[int]) -> bool:
        """Every work drew a token; whether another step is wanted."""
        ...

    def masks(self) -> Sequence[PackedMask | None]:
        """What each work may draw in the next one. Raises PieError where that cannot be told."""
        ...


@dataclass(frozen=True, slots=True)
class Batch:
    """One ragged batch; `copies` are done before anything of it is computed.

    Up to `further` steps are committed behind it, as long as its `continuation` wants them; the works have slots for
    all of these, and those that may be in flight behind the last one have a slot more. Where it `claims`, its works are
    rows of the step that is in flight.
    """

    works: tuple[ScheduledTokens, ...]
    copies: tuple[PageCopy, ...] = ()
    continuation: StopCondition | None = None
    further: int = 0
    claims: bool = False

    @property
    def tokens(self) -> int:
        return sum(len(work.tokens) for work in self.works)


class Outcome(msgspec.Struct, frozen=True):
    """What became of some works: a result for each, and the seconds it took.

    `steps` counts the batch and those that were committed behind it, which took `further_seconds`. The works
    `in_flight` are computed already, each on the token that its context drew last.
    """

    results: "Sequence[WorkResult]"
    seconds: float
    steps: int = 1
    further_seconds: float = 0.0
    in_flight: Sequence[ScheduledTokens] = ()


WorkResult = list[AnyResult] | BatchFailedError
"""Results in the order of `ScheduledTokens.reads`, or why this work alone failed."""


def drawn(result: WorkResult) -> list[SampledTokens]:
    """What the samplers of a work drew."""
    return [] if isinstance(result, BatchFailedError) else [one for one in result if isinstance(one, SampledTokens)]


def last_drawn(result: WorkResult) -> list[int]:
    """The last token that a work drew, if it drew any."""
    return [value.tokens[-1] for value in drawn(result)][-1:]
