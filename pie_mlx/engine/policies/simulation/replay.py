"""What another policy, other bids or another pool would have made of a recorded run."""

from collections.abc import Iterable, Mapping

from pie_mlx.engine.market import declared_bid
from pie_mlx.engine.policies import Limits
from pie_mlx.engine.policies import policy as policy_named
from pie_mlx.engine.policies.simulation.bidding import RecordedBidder
from pie_mlx.engine.policies.simulation.outcome import Outcome
from pie_mlx.engine.policies.simulation.recording import Recording, programs_of
from pie_mlx.engine.policies.simulation.simulator import Simulator
from pie_mlx.engine.policies.simulation.workload import Setup
from pie_mlx.errors import InvalidArgumentError, OutOfPagesError
from pie_mlx.events import Event


def replay(
    events: Iterable[Event], *, policy: str, capacity_pages: int | None = None, bids: Mapping[int, float] | None = None
) -> Outcome:
    """Plans the recorded run again, under `policy`; see `programs_of` for what is taken from the log, and how.

    `capacity_pages` None takes the pool of the run. `bids` are credits per page and tick of all contexts of an account,
    by its number; the others bid what they had declared, or automatically. Accounts of the outcome are the recorded
    ones, and each recorded pass is a turn of one token. Deterministic.

    Raises InvalidArgumentError for a log that cannot be replayed, an unknown account and a bid that is not finite, and
    OutOfPagesError for a pool that a context of the run would not fit.
    """
    return replay_recording(programs_of(events), policy=policy, capacity_pages=capacity_pages, bids=bids)


def replay_recording(
    recording: Recording,
    *,
    policy: str,
    capacity_pages: int | None = None,
    bids: Mapping[int, float] | None = None,
    limits: Limits | None = None,
) -> Outcome:
    """`replay` for a log that has been read already, for instance to ask several questions."""
    capacity = recording.capacity_pages if capacity_pages is None else capacity_pages
    _check_capacity(recording, capacity)
    bidder = RecordedBidder(recording.page_size, _checked_bids(recording, bids or {}))
    setup = Setup(capacity, recording.page_size, device=recording.device)
    return Simulator(recording.programs, setup, policy_named(policy), bidder, limits).run()


def _check_capacity(recording: Recording, capacity_pages: int) -> None:
    needed = recording.largest_context_pages
    if capacity_pages < max(1, needed):
        raise OutOfPagesError(
            f"replay: a pool of {capacity_pages} pages, and a context of the run has {needed}",
            hint="pass a larger capacity_pages",
            needed=needed,
            capacity=capacity_pages,
        )


def _checked_bids(recording: Recording, bids: Mapping[int, float]) -> dict[int, float]:
    known = {program.account for program in recording.programs}
    for account in bids:
        if account not in known:
            raise InvalidArgumentError(f"replay: account {account} ran nothing", hint=f"accounts: {sorted(known)}")
    return {account: declared_bid(bid) for account, bid in bids.items()}
