"""A context as the engine keeps it alive: what is not page accounting."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from pie_mlx.engine.market import Horizon, Retention
from pie_mlx.engine.model.runner.hidden_trail import HiddenTrail
from pie_mlx.engine.model.runner.randomness import stream_key
from pie_mlx.engine.model.runner.token_watch import TokenWatch
from pie_mlx.engine.model.token_counts import CountedText
from pie_mlx.engine.speculation.drafting import HeadPace, NgramDrafter, Pace
from pie_mlx.errors import ContextReleasedError, PieError

NEWEST_RETURN_WEIGHT = 0.2
"""The weight of the newest time after which a program asked for its next pass."""


@dataclass(frozen=True, slots=True)
class Prefetched:
    """Tokens that a reply brought beyond the one that its call asked for: `drawn` of them, of at most `limit`.

    `rows` are the tokens whose KV lies after the end of the context, which counts none of them: the one that the call
    asked for, and all of the others but the last. Valid only for the very next call on the context, while its pages
    stay: until `named` and `suspensions` of the context change.
    """

    limit: int
    drawn: int
    rows: Sequence[int]
    named: int
    suspensions: int


@dataclass(slots=True, eq=False)
class LiveContext:
    """A context of a program, with what the engine knows of it besides its pages. `id` is the page store's."""

    id: int
    account: int
    """The wallet that it draws on."""
    stream: int
    """Its random numbers: a fork or an opened snapshot has others (P13)."""
    sampled: int = 0
    """Tokens drawn so far. Forks and opened snapshots inherit the count (L6)."""
    bid: float = 0.0
    expected: Horizon | None = None
    """The horizon that the bid was computed from; None for a declared bid."""
    waiting_ticks: int = 0
    ran_tick: int = 0
    """The tick of its last row."""
    stay_rows: int = 0
    """Rows since it was brought into the pool."""
    fresh: bool = False
    """It was granted pages, and has not run since (Q3)."""
    suspensions: int = 0
    """How often it lost its place in the pool."""
    rests: bool = False
    """Its text has ended, or it was forked since its last pass: no batch waits for its next one (Q9)."""
    streaming: bool = True
    """Each pass goes on where the one before ended."""
    released: bool = False
    named: int = 0
    """Calls that named it."""
    next_input: tuple[int, int] | None = None
    """Its length and the token drawn, if its next pass goes on with that token."""
    prefetched: Prefetched | None = None
    """What its last reply brought in advance; None while it is no stream."""
    unclaimed: int = 0
    """Prefetched tokens, of all replies, that its program has not used."""
    drafter: NgramDrafter | None = None
    """Made when its program first asks the engine to speculate."""
    draft_model_pace: Pace | None = None
    """Made when the draft model first may guess for it."""
    grammar_pace: Pace | None = None
    """Made when a grammar first leaves one text, but for its blanks."""
    head_pace: HeadPace | None = None
    trail: HiddenTrail | None = None
    """Both made when the model's own draft head first may guess for it."""
    deferred_error: PieError | None = None
    """A later pass of a call failed, and the reply brought the tokens before it: the next call raises this."""
    parent: int = 0
    """The context it was forked from, or 0."""
    requested_seconds: float = 0.0
    """When its program asked for its last pass (monotonic)."""
    started_seconds: float = 0.0
    """When the first tokens of its last pass entered a batch (monotonic)."""
    left_seconds: float = 0.0
    """When its last pass was over (monotonic)."""
    return_seconds: float = 0.005
    """How long after a pass its program usually asks for the next one."""
    batch_contexts: int = 0
    """How many contexts were in that batch."""
    counted: CountedText | None = None
    """Counts of its text, as far as a sampler with penalties needed them last."""
    user: str = ""
    """Who launched its program."""
    truncates: bool = False
    """Its program has truncated it."""
    replayed: int = 0
    reread: int = 0
    """Its tokens that were computed again, and read from disk, to bring it back since its last pass."""
    read_tokens: int = 0
    prompt_tokens: int = 0
    """Inputs of its last pass that have KV so far, cached ones included; and how many inputs it has."""
    retention: Retention | None = None
    """What its pages are worth while it does nothing, as its program said."""
    watch: TokenWatch | None = None
    """Gets what is drawn while its program is being watched."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Orders the calls that name it (P3)."""

    @staticmethod
    def new(context: int, account: int, engine_seed: int, *, sampled: int = 0, parent: int = 0) -> "LiveContext":
        return LiveContext(context, account, stream_key(engine_seed, context), sampled, parent=parent)

    def note_return(self) -> None:
        """Its program asks for the next pass."""
        if self.left_seconds:
            self.return_seconds += NEWEST_RETURN_WEIGHT * (time.monotonic() - self.left_seconds - self.return_seconds)

    def check_live(self) -> None:
        """Raises ContextReleasedError once the context is given up."""
        if self.released:
            raise ContextReleasedError(
                f"context {self.id}: it was released", hint="create, fork or open another context"
            )

    def raise_deferred(self) -> None:
        """Raises the deferred error, once."""
        error, self.deferred_error = self.deferred_error, None
        if error is not None:
            raise error
