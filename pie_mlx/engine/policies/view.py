"""What the planner sees: an immutable picture of the engine at the start of a tick."""

import msgspec

SHORTEST_PIECES = 32
"""The fewest tokens of all pieces in a batch: for fewer, reading the weights again would hardly pay."""


class Limits(msgspec.Struct, frozen=True):
    """Sizes of one batch, the ticks after which a waiting context is due (Q2), and how long pieces of prompts may hold
    up those that decode (`planner.py`; None: for any time).

    `turnover_seconds` is how long it would take to bring all pages of the pool back, as measured, and `turnover_ticks`
    the same in ticks; 0 while that is unknown (`turnover.py`). `max_user_contexts` bounds the rows of one user, while
    others want some (`sharing.py`).
    """

    max_batch_tokens: int = 2048
    max_batch_contexts: int = 64
    prefill_chunk_tokens: int = 512
    aging_window_ticks: int = 64
    decode_stall_seconds: float | None = None
    turnover_ticks: float = 0.0
    turnover_seconds: float = 0.0
    max_user_contexts: int = 2**31


class SharedRun(msgspec.Struct, frozen=True):
    """Committed pages that the same resident contexts hold. `run` is any id that is unique in the view."""

    run: int
    pages: int
    holders: int


class ContextView(msgspec.Struct, frozen=True):
    """One live context. Smaller ids of accounts and contexts are older.

    `waiting_ticks` counts ticks with work but without a row of its own; a row that only replays does not end the
    wait, or a long replay could be evicted again and again (Q1, Q7). `pages` are effective pages (K9), 0 off-pool.
    Suspending a context alone gives back `private_pages`; `shared_runs` are the runs it holds with other residents,
    or, of an off-pool context, the runs that need not come back because residents hold them. The last two may be left
    empty while all requests together fit into the available pages, as then nothing is suspended.
    `arrival` is the sequence number of its oldest outstanding operation. `fresh`: was restored or granted pages for
    work it has not run yet (Q3). `defaulted` is its account's flag (M9). `growth_pages` are those it will soon ask
    for, beyond what it has and lacks. `idle_ticks` have passed since its last row, 0 while it has work, and it had
    `stay_rows` rows of its own since it was brought into the pool. `user` launched its program. `hint` is what
    that said of its pages while it does nothing, and what `bid` then follows from; empty if nothing.
    """

    context: int
    account: int
    resident: bool = True
    bid: float = 0.0
    waiting_ticks: int = 0
    arrival: int = 0
    pages: float = 0.0
    private_pages: int = 0
    shared_runs: tuple[int, ...] = ()
    fresh: bool = False
    defaulted: bool = False
    has_work: bool = True
    growth_pages: int = 0
    idle_ticks: int = 0
    stay_rows: int = 0
    user: str = ""
    hint: str = ""


class Chunk(msgspec.Struct, frozen=True):
    """The next `tokens` >= 1 tokens of a context's pass: in a view all that are still to run, in a plan those that do.

    An `atomic` pass (a decode step, a verification window) runs whole. That of a gang is of so many `contexts`, and
    `context` is the first of them.
    """

    context: int
    tokens: int
    atomic: bool = False
    contexts: int = 1


class RequestView(msgspec.Struct, frozen=True):
    """A context that waits for pages: a resident one for `pages` more, an off-pool one for `pages` to return.

    Off-pool this is the need of M6: pages to bring back and those its deferred operations lack. `tokens` and `atomic`
    describe the pass that can run as soon as the pages are granted; 0 for any other operation and for restores.
    """

    context: int
    pages: int
    tokens: int = 0
    atomic: bool = False


class View(msgspec.Struct, frozen=True):
    """The engine before tick `tick`, while no batch is in flight.

    `available_pages` are free, cached and snapshot-only pages (K8); `withhold_pages` of them, or of those that contexts
    give back, are to be left unused. `contexts` holds every live context; those without work may be left out while all
    requests together fit into the available pages, and all of them while none requests pages and one batch has room for
    all passes. `passes` could run now: their contexts are resident and hold the pages for all of them. `passes` and
    `requests` have at most one entry of each context.
    `stalled`: nothing was runnable for as long as `planner.is_stalled` asks.
    """

    tick: int
    capacity_pages: int
    available_pages: int
    contexts: tuple[ContextView, ...] = ()
    passes: tuple[Chunk, ...] = ()
    requests: tuple[RequestView, ...] = ()
    shared_runs: tuple[SharedRun, ...] = ()
    limits: Limits = Limits()
    stalled: bool = False
    withhold_pages: int = 0
