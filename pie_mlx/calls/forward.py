"""One forward pass, or several that follow one another."""

from pie_mlx.calls.base import Brle, Call, Record
from pie_mlx.calls.context import PageCounters
from pie_mlx.calls.reading import AnyResult, Slot

LEAST_UNKNOWN = 64
"""A text of unknown length is expected to go on for as long as it is, and at least for so many tokens (B6)."""


class Speculation(Record, frozen=True):
    """Guesses at the tokens behind a pass's last input, verified in that pass (V2).

    At most `limit` of them count. `drafts` None lets the engine guess. `parents` makes a tree of the drafts: each
    names the draft it follows, -1 the last input; None is a chain. Of what was right, a token of `stop_tokens` and all
    behind it leave KV (V6).
    """

    limit: int
    drafts: list[int] | None = None
    parents: list[int] | None = None
    stop_tokens: list[int] = []


class Prospect(Record, frozen=True):
    """What a text is expected to come to: `expected` tokens in all, None if unknown, with the squared
    coefficient of `variation` of the rest. `generated` exist already (B6)."""

    generated: int = 0
    expected: int | None = None
    variation: float = 1.0

    def after(self, tokens: int) -> tuple[float, float]:
        """Expected remaining tokens and their variation once `tokens` more are there."""
        generated = self.generated + tokens
        if self.expected is None:
            return (float(max(generated, LEAST_UNKNOWN)), 1.0)
        return (float(max(self.expected - generated, 1)), self.variation)


class MultiStep(Record, frozen=True):
    """The passes behind a pass that run without the program: each computes the token that the previous one drew.

    At most `tokens` are drawn in all, the first pass's included, and none after one of `stop_tokens`. `prospect`
    renews the automatic bid before each pass that is bid for (B4); None leaves it alone.
    """

    tokens: int
    stop_tokens: list[int] = []
    prospect: Prospect | None = None


class Lookahead(Record, frozen=True):
    """Steps that the engine may take behind a pass before they are asked for: at most `tokens` are drawn in them, and
    none after one of `stop_tokens`."""

    tokens: int
    stop_tokens: list[int] = []


class Forward(Call["ForwardReply"], frozen=True):
    """One pass over a context: a decode step is one of these.

    `pending` is the drained buffer, computed first; `tokens` are the pass's own input, at `positions` or, when None, at
    their slot numbers. `attention_masks` has one row per own token over KV slots (F7). `logit_mask` and `matchers`
    restrict every sampled row (F9, G13); matchers are advanced by the token of `advance_slot` when that is not None.
    `reserve` and `commit` are P10's automatic page handling. `horizon` (expected remaining tokens, squared coefficient
    of variation) renews the automatic bid before the pass (B4). With `speculation`, the one sampler of the pass, at the
    last own input, answers every token that was verified, and matchers are advanced up to the first stop token. With
    `multi_step` it answers the tokens of all passes; fewer if a later one failed, whose error the next call gets if it
    still holds. With `lookahead` the reply may bring tokens of later steps (G14). A program that uses them sends, as
    `pending` of the next pass, what those steps would have computed, and how many were `taken`; the rest is discarded.
    `adapter` and the noise of `zo_seed` are for `tokens`, not for `pending` (F1, F10); 0 is none.
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
    speculation: Speculation | None = None
    multi_step: MultiStep | None = None
    lookahead: Lookahead | None = None
    taken: int = 0
    adapter: int = 0
    zo_seed: int = 0


class ForwardReply(Record, frozen=True):
    """Slot results in slot order, the page counters after the pass, and whether a matcher has terminated.

    `attached` of its inputs were not computed: their pages were cached. `drafted` guesses were run behind them. The
    first `kept` of the tokens that a speculating or multi-step pass drew are in KV. `ahead` are those of the steps that
    follow, of which nothing is in KV yet.
    """

    results: list[AnyResult]
    counters: PageCounters
    grammar_terminated: bool = False
    attached: int = 0
    drafted: int = 0
    kept: int = 0
    ahead: list[int] = []
