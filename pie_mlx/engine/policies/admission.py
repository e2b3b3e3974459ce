"""Which launches may start: rule Q11."""

import math
from collections import defaultdict
from collections.abc import Mapping

import msgspec

from pie_mlx.errors import AdmissionError


class AdmissionTerms(msgspec.Struct, frozen=True):
    """The sizes that admission is about; the state of each context costs `state_pages`."""

    capacity_pages: int
    max_batch_contexts: int = 64
    oversubscription: float = 4.0
    state_pages: int = 0

    def claim(self, endowment: float) -> float:
        """The pages a launch with `endowment` credits counts for."""
        fair = max(1.0, self.capacity_pages / self.max_batch_contexts)
        return min(endowment + self.state_pages, max(fair, 1.0 + self.state_pages))

    @property
    def cap(self) -> float:
        """How many pages the claims of all launches may sum up to."""
        slack = min(self.max_batch_contexts, max(1, math.ceil(self.capacity_pages / 16)))
        return self.capacity_pages * self.oversubscription + slack


class LaunchClaim(msgspec.Struct, frozen=True):
    """A launch root of a user, which has started or wants to."""

    account: int
    claim: float
    user: str = ""


class Admission(msgspec.Struct, frozen=True):
    """The claims of the admitted accounts, the queue in order, and the barrier.

    `resume_below` is set while a denial holds the queue back: it moves on when the claims have fallen to that sum.
    """

    claims: Mapping[int, LaunchClaim] = {}
    queue: tuple[LaunchClaim, ...] = ()
    resume_below: float | None = None

    @property
    def claimed(self) -> float:
        return math.fsum([launch.claim for launch in self.claims.values()])


def check_claim(terms: AdmissionTerms, endowment: float) -> None:
    """Raises AdmissionError for a launch that can never start."""
    claim = terms.claim(endowment)
    if claim > terms.cap:
        raise AdmissionError(
            f"a launch claims {claim:g} pages, admission ends at {terms.cap:g}",
            hint="raise admission_oversubscription_factor or total_pages, or lower the token budget",
        )


def request_launch(
    state: Admission, terms: AdmissionTerms, account: int, endowment: float, user: str = ""
) -> tuple[Admission, tuple[int, ...]]:
    """Queues a launch; the new state and the accounts that may start now. Raises AdmissionError if it never can."""
    check_claim(terms, endowment)
    launch = LaunchClaim(account, terms.claim(endowment), user)
    return _admit(msgspec.structs.replace(state, queue=(*state.queue, launch)), terms)


def end_launch(state: Admission, terms: AdmissionTerms, account: int) -> tuple[Admission, tuple[int, ...]]:
    """Ends an account or takes its launch from the queue; the new state and the accounts that may start now."""
    claims = {key: claim for key, claim in state.claims.items() if key != account}
    queue = tuple(launch for launch in state.queue if launch.account != account)
    return _admit(Admission(claims, queue, state.resume_below if queue else None), terms)


def _admit(state: Admission, terms: AdmissionTerms) -> tuple[Admission, tuple[int, ...]]:
    state, in_order = _admit_in_order(state, terms)
    state, within_shares = _admit_within_shares(state, terms)
    return state, (*in_order, *within_shares)


def _admit_in_order(state: Admission, terms: AdmissionTerms) -> tuple[Admission, tuple[int, ...]]:
    claimed = state.claimed
    if state.resume_below is not None and claimed > state.resume_below:
        return state, ()
    claims = dict(state.claims)
    admitted: list[int] = []
    for launch in state.queue:
        if claimed + launch.claim > terms.cap:
            barrier = _barrier(terms, launch.claim)
            break
        claims[launch.account] = launch
        claimed += launch.claim
        admitted.append(launch.account)
    else:
        barrier = None
    return Admission(claims, state.queue[len(admitted) :], barrier), tuple(admitted)


def _admit_within_shares(state: Admission, terms: AdmissionTerms) -> tuple[Admission, tuple[int, ...]]:
    """Admit queued launches so that each user gets its share of the cap, whatever others claim and however many of
    theirs wait."""
    held: defaultdict[str, float] = defaultdict(float, dict.fromkeys((launch.user for launch in state.queue), 0.0))
    if not held:
        return state, ()
    for launch in state.claims.values():
        held[launch.user] += launch.claim
    if len(held) < 2:
        return state, ()
    admitted, queue, full = list[LaunchClaim](), list[LaunchClaim](), set[str]()
    for launch in state.queue:
        if launch.user in full or held[launch.user] + launch.claim > terms.cap / len(held):
            full.add(launch.user)
            queue.append(launch)
        else:
            held[launch.user] += launch.claim
            admitted.append(launch)
    claims = {**state.claims, **{launch.account: launch for launch in admitted}}
    started = tuple([launch.account for launch in admitted])
    return Admission(claims, tuple(queue), state.resume_below if queue else None), started


def _barrier(terms: AdmissionTerms, claim: float) -> float:
    wave = min(max(math.floor(terms.cap / claim), 1), terms.max_batch_contexts)
    return max(0.0, terms.cap - claim * wave)
