"""A context as the engine keeps it alive: what is not page accounting."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from pie_mlx.engine.market import Horizon
from pie_mlx.engine.model.runner.randomness import stream_key
from pie_mlx.engine.model.runner.token_counts import CountedText
from pie_mlx.engine.speculation.drafting import NgramDrafter, Pace
from pie_mlx.errors import ContextReleasedError, PieError


@dataclass(frozen=True, slots=True)
class Prefetched:
    """Tokens that a reply brought beyond the one that was asked for: `drawn` tokens, of at most `limit`.

    `rows` are the tokens whose KV lies behind the end of the context, which counts none of them: the one that was asked
    for, and all of the others but the last. Valid only for the very next call on the context, while its pages stay:
    `named` and `suspensions` are the context's of that moment.
    """

    limit: int
    drawn: int
    rows: Sequence[int]
    named: int
    suspensions: int


@dataclass(slots=True, eq=False)
class LiveContext:
    """`id` is the page store's. `turn` orders the calls that name this context (P3).

    `sampled` counts the tokens drawn so far: forks and opened snapshots inherit it, their `stream` is their own (L6,
    P13). `account` is the wallet it draws on. `fresh` from being granted pages until it has run (Q3). `ran_tick`
    is that of its last row, `stay_rows` are those since it was brought into the pool. `expected` is the horizon its bid
    was computed from, None for a declared bid. `suspensions` counts how often it went from the pool.
    `rests` if its text has ended or it was forked since its last pass: no batch waits for it to come back (Q9).
    `streaming` while its passes go on where the last one ended: with `next_input`, the length then and the token that
    was drawn. `named` counts the calls that named it. `prefetched` are the tokens that its program received beyond
    the ones it asked for, None while there is no stream; `unclaimed` counts those of all replies that it has not used.
    `drafter` is there once the engine was asked to speculate, `draft_model_pace` once its draft model may. `owed` is
    the error of a later pass of a call whose reply brought the tokens before it; the next call gets it. `parent` is
    the context it was forked from, or 0. `started_seconds`: when the first tokens of its last pass entered a batch.
    `counted` are the counts of its text, as far as a sampler with penalties needed them last. `user` launched its
    program, which has truncated it once it `truncates`.
    """

    id: int
    account: int
    stream: int
    sampled: int = 0
    bid: float = 0.0
    expected: Horizon | None = None
    waiting_ticks: int = 0
    ran_tick: int = 0
    stay_rows: int = 0
    fresh: bool = False
    suspensions: int = 0
    rests: bool = False
    streaming: bool = True
    released: bool = False
    named: int = 0
    next_input: tuple[int, int] | None = None
    prefetched: Prefetched | None = None
    unclaimed: int = 0
    drafter: NgramDrafter | None = None
    draft_model_pace: Pace | None = None
    owed: PieError | None = None
    parent: int = 0
    started_seconds: float = 0.0
    counted: CountedText | None = None
    user: str = ""
    truncates: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @staticmethod
    def new(context: int, account: int, engine_seed: int, *, sampled: int = 0, parent: int = 0) -> "LiveContext":
        return LiveContext(context, account, stream_key(engine_seed, context), sampled, parent=parent)

    def check_live(self) -> None:
        """Raises ContextReleasedError once the context is given up."""
        if self.released:
            raise ContextReleasedError(
                f"context {self.id}: it was released", hint="create, fork or open another context"
            )

    def pay(self) -> None:
        """Raises the error that is owed, once."""
        error, self.owed = self.owed, None
        if error is not None:
            raise error
