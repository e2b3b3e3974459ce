"""One forward pass."""

from pie_mlx.calls.base import Brle, Call, Record
from pie_mlx.calls.context import PageCounters
from pie_mlx.calls.reading import AnyResult, Slot


class Forward(Call["ForwardReply"], frozen=True):
    """One pass over a context: a decode step is one of these.

    `pending` is the drained buffer, computed first; `tokens` are the pass's own input, at `positions` or, when None, at
    their slot numbers. `attention_masks` has one row per own token over KV slots (F7). `logit_mask` and `matchers`
    restrict every sampled row (F9, G13); matchers are advanced by the token of `advance_slot` when that is not None.
    `reserve` and `commit` are P10's automatic page handling. `horizon` (expected remaining tokens, squared coefficient
    of variation) renews the automatic bid before the pass (B4).
    """

    context: int
    tokens: list[int] = []
    pending: list[int] = []
    positions: list[int] | None = None
    attention_masks: list[Brle] | None = None
    slots: list[Slot] = []
    logit_mask: Brle = []
    matchers: list[int] = []
    advance_slot: int | None = None
    reserve: bool = True
    commit: bool = True
    horizon: tuple[float, float] | None = None


class ForwardReply(Record, frozen=True):
    """Slot results in slot order, the page counters after the pass, and whether a matcher has terminated.

    `attached` of its inputs were not computed: their pages were cached.
    """

    results: list[AnyResult]
    counters: PageCounters
    grammar_terminated: bool = False
    attached: int = 0
