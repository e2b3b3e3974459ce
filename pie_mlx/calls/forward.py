"""One forward pass, or several that follow one another."""

from typing import Literal

from pie_mlx.calls.base import Brle, Call, Record
from pie_mlx.calls.context import PageCounters
from pie_mlx.calls.reading import AnyResult, Slot
from pie_mlx.calls.reuse import Reuse

LEAST_UNKNOWN = 64
"""A text of unknown length is expected to go on for as long as it is, and at least for so many tokens (B6)."""

DraftSourceName = Literal["auto", "ngram", "mtp", "draft_model", "grammar"]
"""Who guesses: repetitions of the text, the model's own draft head, the draft model, a grammar that leaves little
choice, or what has earned most."""


class Speculation(Record, frozen=True):
    """Guesses at the tokens after a pass's last input, verified in that pass (V2).

    At most `limit` of them count. `drafts` None lets the engine guess, with the `source` named. `parents` makes a tree
    of the drafts: each names the draft it follows, -1 the last input; None is a chain. Of what was right, a token
    of `stop_tokens` and all after it leave KV (V6).
    """

    limit: int
    drafts: list[int] | None = None
    parents: list[int] | None = None
    stop_tokens: list[int] = []
    source: DraftSourceName = "auto"


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


class Continuation(Record, frozen=True):
    """The steps after a pass: at most `tokens` further ones, each of which computes what the one before drew, and none
    after one of `stop_tokens`.

    Steps that are `asked` for belong to the call: its one sampler answers the tokens of all of them; fewer than
    possible if something came up, which the next call gets if it still holds. `prospect` renews the automatic bid
    before each pass that is bid for (B4); None leaves it alone. Of steps that are not asked for the reply may bring
    tokens, `prefetched` (G14). A program that uses them sends what those steps would have computed with its next pass,
    as `pending`, and how many it `claimed`. Tokens that are not claimed were never drawn.
    """

    tokens: int = 0
    stop_tokens: list[int] = []
    asked: bool = True
    prospect: Prospect | None = None
    claimed: int = 0


class OtherContext(Record, frozen=True):
    """Another context of a pass, whose last row its rule reads: the `tokens` that it computes, at their slot numbers,
    with its own `adapter` and noise. What the pass draws is computed in all of its contexts."""

    context: int
    tokens: list[int]
    adapter: int = 0
    zo_seed: int = 0


class Forward(Call["ForwardReply"], frozen=True):
    """One pass over a context: a decode step is one of these.

    `pending` is the drained buffer, computed first; `tokens` are the pass's own input, at `positions` or, when None, at
    their slot numbers. `attention_masks` has one row per own token over KV slots (F7). `logit_mask` and `matchers`
    restrict every sampled row (F9, G13); matchers are advanced by the token of `advance_slot` when that is not None.
    `reserve` and `commit` are P10's automatic page handling. `horizon` (expected remaining tokens, squared coefficient
    of variation) renews the automatic bid before the pass (B4). With `speculation`, the one sampler of the pass, at the
    last own input, answers every token that was verified, and matchers are advanced up to the first stop token. With a
    `continuation` further steps follow.
    `adapter` and the noise of `zo_seed` are for `tokens`, not for `pending` (F1, F10); 0 is none. The `others` are
    those whose rows the sampler's rule reads, in its order: all contexts of the pass are one to the engine (L11).
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
    continuation: Continuation | None = None
    adapter: int = 0
    zo_seed: int = 0
    others: list[OtherContext] = []


class ForwardReply(Record, frozen=True):
    """Slot results in slot order, the page counters after the pass, and whether a matcher has terminated.

    `attached` of its inputs were not computed: their pages were cached. `replayed` tokens were known and computed
    again: those of the inputs whose pages were cached beyond the last kept state of recurrent layers, and those that
    the context had lost before the pass. `drafted` guesses of `drafted_by` were run after the inputs, and `accepted` of
    them were right. The first `kept` of the tokens that a speculating or continued pass drew are in KV. `prefetched`
    are those of steps that follow, of which the context counts nothing yet. `reuse` is there if a page could have been
    attached. Of the drawn tokens, `forced` were appended without being drawn, as a grammar left no choice (G16).
    `others` are the counters of the other contexts.
    """

    results: list[AnyResult]
    counters: PageCounters
    grammar_terminated: bool = False
    attached: int = 0
    drafted: int = 0
    kept: int = 0
    prefetched: list[int] = []
    replayed: int = 0
    reuse: Reuse | None = None
    forced: int = 0
    others: list[PageCounters] = []
    accepted: int = 0
    drafted_by: str = ""
