"""The other contexts of a Generator, whose rows its rule reads and which go on with the same tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inferlet._context.handle import ContextHandle
from inferlet._context.pending import PendingBuffer
from inferlet.adapter import Adapter
from inferlet.forward import checked_sampler
from inferlet.model import Model
from pie_mlx.calls import Forward, ForwardReply, OtherContext, Sampler, Turn
from pie_mlx.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True)
class Member:
    """One of these contexts, and the adapter that its tokens are computed with."""

    handle: ContextHandle
    pending: PendingBuffer
    adapter: Adapter | None = None


def shares_vocabulary(first: Model, second: Model) -> bool:
    """Whether the rows of two models are about the same tokens. So far only those of one model are."""
    return first.name == second.name


class Others:
    """The other contexts of a Generator, as its passes need them."""

    def __init__(self, handle: ContextHandle, members: Sequence[Member], sampler: Sampler) -> None:
        """Raises InvalidArgumentError unless the sampler's rule reads as many rows, of as many other contexts."""
        self._members = members
        rule = checked_sampler(sampler).rule
        names = () if rule is None else rule.graph.others
        if len(names) != len(members):
            raise InvalidArgumentError(
                f"generate: the sampler's rule reads rows of {len(names)} other contexts "
                f"({', '.join(names) or 'none'}), got {len(members)}",
                hint="pass others=[...], a context for each, in this order",
            )
        if len({handle.id, *(one.handle.id for one in members)}) <= len(members):
            raise InvalidArgumentError("others: a context is named twice", hint="fork it, to use it twice")
        for one in members:
            one.handle.check()
            if not shares_vocabulary(handle.model, one.handle.model):
                raise InvalidArgumentError(
                    f"others: rows of two models, {handle.model.name} and {one.handle.model.name}, which do not share "
                    "a vocabulary",
                    hint="use contexts of one model, for example with an adapter or another prompt",
                )

    def __bool__(self) -> bool:
        return bool(self._members)

    def cue(self) -> None:
        """Buffer the start of the model's turn in each of them, or in none."""
        before = [(one.pending, one.pending.snapshot()) for one in self._members]
        try:
            for one in self._members:
                one.pending.render(Turn("cue"))
        except Exception:
            for pending, snapshot in before:
                pending.restore(snapshot)
            raise

    async def prepare(self, handle: ContextHandle, pending: PendingBuffer) -> None:
        """Compute all input of all contexts but its last token: the rows of those are in one pass.

        Raises InvalidArgumentError for one without input, and what `Context.flush` does.
        """
        for own, buffer in [(handle, pending), *((one.handle, one.pending) for one in self._members)]:
            own.resolve()
            buffer.release_held()
            if not buffer.tokens:
                raise InvalidArgumentError(
                    f"others: context {own.id} has no pending token to go on from",
                    hint="append a token or a turn and do not flush it, or leave auto_flush on",
                )
            if len(buffer.tokens) > 1 or own.owes_tokens:
                *early, last = buffer.drain()
                buffer.give_back([last])
                request = Forward(own.id, pending=early, horizon=own.bidding.for_raw_pass())
                await own.run(request, _giving_back(buffer, early))

    def inputs(self) -> list[OtherContext]:
        """What a pass computes of each."""
        return [
            OtherContext(one.handle.id, list(one.pending.tokens), 0 if one.adapter is None else one.adapter.id)
            for one in self._members
        ]

    async def run(self, handle: ContextHandle, request: Forward, give_back: Callable[[], None]) -> ForwardReply:
        """Run a pass of all contexts, `handle` with them. When it does not run, everything is as before."""
        others = [(one.handle, _giving_back(one.pending, one.pending.drain())) for one in self._members]
        return await handle.run_together(request, give_back, others)

    def keep(self, tokens: list[int], in_kv: int, *, stopped: bool) -> None:
        """Buffer what was drawn; the first `in_kv` of the tokens are in KV already."""
        for one in self._members:
            one.pending.append_to_turn(tokens, in_kv)
            one.pending.stopped = stopped


def _giving_back(pending: PendingBuffer, tokens: list[int]) -> Callable[[], None]:
    return lambda: pending.give_back(tokens)
