"""One forward pass, built by hand."""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Self

from inferlet import brle
from inferlet._calls.checks import integer, integers, token_list
from inferlet._context.handle import ContextHandle
from inferlet.adapter import Adapter, checked_adapter, checked_seed
from inferlet.output import Output, PassSlots, ProbeHandle, SampleHandle
from pie_mlx import calls
from pie_mlx.calls import Brle, Probe, Sampler
from pie_mlx.errors import (
    ContextLengthError,
    EmptyMaskError,
    InvalidArgumentError,
    InvalidTypeError,
    PieError,
    StepConsumedError,
)


class Forward:
    """A pass over a context, from `Context.forward()`. Pages are reserved and committed automatically.

    Building it sends nothing; `execute()` sends one message. It keeps its context alive.
    """

    def __init__(self, handle: ContextHandle) -> None:
        self._handle = handle
        self._start = handle.length
        self._tokens: list[int] = []
        self._positions: list[int | None] = []
        self._attention_masks: list[Brle] | None = None
        self._logit_mask: Brle = []
        self._pass_slots = PassSlots()
        self._commit = True
        self._adapter: Adapter | None = None
        self._zo_seed = 0
        self._consumed = False

    @property
    def page_size(self) -> int:
        """Tokens per page of the context."""
        return self._handle.page_size

    def start_position(self) -> int:
        """The position the first `input` token takes: the context's `seq_len` when the pass was made."""
        return self._start

    def input(self, tokens: Iterable[int]) -> Self:
        """Add tokens; each has its slot number as position. Raises InvalidArgumentError outside the vocabulary."""
        added = token_list(tokens, self._handle.model.info.vocabulary_size)
        self._tokens += added
        self._positions += repeat(None, len(added))
        return self

    def input_at(self, tokens: Iterable[int], positions: Iterable[int]) -> Self:
        """Add tokens at explicit positions, which may repeat and leave gaps. Raises InvalidArgumentError when the
        numbers of tokens and positions differ or a position is negative, ContextLengthError for one that the model
        cannot reach."""
        model = self._handle.model.info
        added = token_list(tokens, model.vocabulary_size)
        places = integers(positions, "positions")
        if len(places) != len(added) or any(place < 0 for place in places):
            raise InvalidArgumentError(
                f"input_at: {len(places)} positions for {len(added)} tokens, smallest {min(places, default=0)}",
                hint="pass one position of at least 0 for each token",
            )
        if max(places, default=0) >= model.maximum_positions:
            raise ContextLengthError(
                f"input_at: a position is beyond the model's {model.maximum_positions}", hint="pass smaller positions"
            )
        self._tokens += added
        self._positions += places
        return self

    def attention_mask(self, masks: Iterable[Sequence[int]]) -> Self:
        """One BRLE row per input token over KV slots, True = attend; replaces earlier rows."""
        self._attention_masks = [brle.canonical(mask) for mask in masks]
        return self

    def mask(self, mask: Sequence[int]) -> Self:
        """BRLE over the vocabulary for every sampled row, True = allowed, [] = no restriction; replaces."""
        self._logit_mask = brle.restriction(mask)
        return self

    def sample(self, indices: Iterable[int], sampler: Sampler) -> SampleHandle:
        """Draw at these inputs of the pass (0-based). Raises InvalidArgumentError for no index."""
        places = integers(indices, "indices")
        if not places:
            raise InvalidArgumentError("sample: no index", hint="name at least one input of the pass")
        handle = SampleHandle()
        self._pass_slots.attach(handle, places, checked_sampler(sampler))
        return handle

    def probe(self, index: int, probe: Probe) -> ProbeHandle:
        """Read the distribution at one input of the pass (0-based)."""
        handle = ProbeHandle(checked_probe(probe))
        self._pass_slots.attach(handle, [integer(index, "index")], probe)
        return handle

    def defer_commit(self) -> Self:
        """Leave full pages uncommitted after this pass, so that they can still be truncated."""
        self._commit = False
        return self

    def adapter(self, adapter: Adapter | None) -> Self:
        """Compute this pass's own input with an adapter; replaces. Raises InvalidTypeError for anything else."""
        self._adapter = checked_adapter(adapter)
        return self

    def zo_seed(self, seed: int | None) -> Self:
        """Add the noise of a seed to this pass's adapter; 0 and None are no noise."""
        self._zo_seed = checked_seed(seed)
        return self

    async def execute(self) -> Output:
        """Run the pass. When it raises, everything is as before and it can be executed again; after it ran,
        StepConsumedError.

        Raises InvalidArgumentError without input, for an index out of range and for masks that do not fit;
        EmptyMaskError, ContextLengthError, OutOfPagesError, TokenBudgetError, BatchFailedError. With an adapter also
        AdapterNotFoundError when it was destroyed; InvalidArgumentError for a seed without one that evolves.
        """
        if self._consumed:
            raise StepConsumedError("forward: it was executed already", hint="make a new one with ctx.forward()")
        request = self._request()
        self._consumed = True
        try:
            reply = await self._handle.run(request)
        except PieError:
            self._consumed = False
            raise
        return Output(reply, self._pass_slots.spans)

    def _request(self) -> calls.Forward:
        if not self._tokens:
            raise InvalidArgumentError("forward: no input", hint="call input() or input_at() before execute()")
        if not brle.allows_any(self._logit_mask, self._handle.model.info.vocabulary_size):
            raise EmptyMaskError("forward: the logit mask allows no token", hint="allow at least one token id")
        return calls.Forward(
            self._handle.id,
            self._tokens,
            positions=self._explicit_positions(),
            attention_masks=self._attention_masks,
            slots=self._pass_slots.slots,
            logit_mask=self._logit_mask,
            commit=self._commit,
            horizon=self._handle.bidding.for_raw_pass(),
            adapter=0 if self._adapter is None else self._adapter.id,
            zo_seed=self._zo_seed,
        )

    def _explicit_positions(self) -> list[int] | None:
        if all(position is None for position in self._positions):
            return None
        first = self._handle.next_slot
        return [first + place if position is None else position for place, position in enumerate(self._positions)]


def checked_sampler(sampler: object) -> Sampler:
    """The sampler itself. Raises InvalidTypeError for anything else."""
    if not isinstance(sampler, Sampler):
        raise InvalidTypeError(f"sampler: got {type(sampler).__name__}", hint="use Sampler.argmax() or another of it")
    return sampler


def checked_probe(probe: object) -> Probe:
    """The probe itself. Raises InvalidTypeError for anything else."""
    if not isinstance(probe, Probe):
        raise InvalidTypeError(
            f"probe: got {type(probe).__name__}",
            hint="use Logits, Distribution, Logprob, Logprobs, Entropy, HiddenState, HiddenMean or AttentionScores",
        )
    return probe


def single_draw(sampler: object) -> Sampler:
    """A sampler that draws one token."""
    found = checked_sampler(sampler)
    if found.draws != 1:
        raise InvalidArgumentError(
            f"generate: the sampler draws {found.draws} tokens at once", hint="a Generator needs draws=1"
        )
    return found
