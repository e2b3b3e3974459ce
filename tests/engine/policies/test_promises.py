"""Whatever the picture, a plan promises only pages that there are."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.policies import POLICIES, Chunk, ContextView, Limits, Plan, RequestView, SharedRun, View, policy

CAPACITY = 40


@dataclass
class Pool:
    """Pages kept the plain way: who holds which runs, and how many pages of its own."""

    own: dict[int, int] = field(default_factory=dict)
    chains: dict[int, tuple[int, ...]] = field(default_factory=dict)
    run_pages: dict[int, int] = field(default_factory=dict)
    residents: set[int] = field(default_factory=set)

    def held_runs(self) -> set[int]:
        return {run for context in self.residents for run in self.chains[context]}

    def available(self) -> int:
        own = sum(self.own[context] for context in self.residents)
        return CAPACITY - own - sum(self.run_pages[run] for run in self.held_runs())

    def need(self, context: int) -> int:
        missing = set(self.chains[context]) - self.held_runs()
        return self.own[context] + sum(self.run_pages[run] for run in missing)


@st.composite
def scenes(draw: st.DrawFn) -> tuple[Pool, View]:
    pool = Pool(run_pages={run: draw(st.integers(1, 6)) for run in range(3)})
    for context in range(draw(st.integers(1, 8))):
        pool.own[context] = draw(st.integers(0, 8))
        pool.chains[context] = tuple(range(draw(st.integers(0, 3))))
        pool.residents.add(context)
        if pool.available() < 0 or draw(st.booleans()):
            pool.residents.discard(context)
    return pool, _view(draw, pool)


def _view(draw: st.DrawFn, pool: Pool) -> View:
    contexts = tuple(_context(draw, pool, context) for context in pool.own)
    lacking = {context: draw(st.integers(0, 6)) for context in pool.own}
    requests = [RequestView(c, lacking[c], 1, True) for c in pool.residents if lacking[c]]
    requests += [RequestView(c, pool.need(c) + lacking[c]) for c in pool.own if c not in pool.residents]
    busy = {item.context for item in requests}
    return View(
        1,
        CAPACITY,
        pool.available(),
        contexts,
        tuple(Chunk(context, 1, True) for context in pool.residents - busy),
        tuple(requests),
        tuple(SharedRun(run, pool.run_pages[run], _holders(pool, run)) for run in sorted(pool.held_runs())),
        Limits(aging_window_ticks=4),
        stalled=True,
    )


def _holders(pool: Pool, run: int) -> int:
    return sum(run in pool.chains[context] for context in pool.residents)


def _context(draw: st.DrawFn, pool: Pool, context: int) -> ContextView:
    is_resident = context in pool.residents
    return ContextView(
        context,
        draw(st.integers(0, 3)),
        is_resident,
        draw(st.sampled_from([0.0, 0.5, 1.0, 2.0])),
        draw(st.integers(0, 6)),
        context,
        float(pool.own[context]),
        pool.own[context] if is_resident else 0,
        tuple(run for run in pool.chains[context] if run in pool.held_runs()),
        fresh=draw(st.booleans()) and is_resident,
        defaulted=draw(st.booleans()),
    )


def carry_out(pool: Pool, view: View, plan: Plan) -> None:
    """Does what the plan says and checks each step."""
    wanted = {item.context: item.pages for item in view.requests}
    for suspension in plan.suspensions:
        pool.residents.remove(suspension.context)
    for context in plan.restores:
        lacking = wanted[context] - (pool.own[context] + _missing_in(view, pool, context))
        assert pool.need(context) + lacking <= pool.available()
        pool.own[context] += lacking
        pool.residents.add(context)
    for context in plan.grants:
        assert wanted[context] <= pool.available()
        pool.own[context] += wanted[context]


def _missing_in(view: View, pool: Pool, context: int) -> int:
    held = {shared.run for shared in view.shared_runs}
    return sum(pool.run_pages[run] for run in pool.chains[context] if run not in held)


@given(scenes(), st.sampled_from(POLICIES))
def test_the_pages_of_every_grant_and_restore_are_there(scene: tuple[Pool, View], name: str):  # Q4, Q6
    pool, view = scene
    carry_out(pool, view, policy(name).plan(view))


@given(scenes(), st.sampled_from(POLICIES))
def test_every_context_is_mentioned_once(scene: tuple[Pool, View], name: str):
    _, view = scene
    plan = policy(name).plan(view)
    named = [
        *plan.grants,
        *plan.restores,
        *(item.context for item in plan.suspensions),
        *(item.context for item in plan.waits),
    ]
    assert len(named) == len(set(named))
    assert {item.context for item in view.requests} <= set(named)
    assert {chunk.context for chunk in plan.chunks}.isdisjoint({item.context for item in plan.suspensions})


@given(scenes(), st.sampled_from(POLICIES))
def test_nobody_is_suspended_when_all_requests_fit(scene: tuple[Pool, View], name: str):  # Q4.3
    _, view = scene
    if sum(item.pages for item in view.requests) <= view.available_pages:
        assert policy(name).plan(view).suspensions == ()


@given(scenes(), st.sampled_from(POLICIES))
def test_a_stalled_engine_moves_when_anybody_that_waits_can_ever_fit(scene: tuple[Pool, View], name: str):  # Q7
    pool, view = scene
    waiting = [item for item in view.requests if item.context not in pool.residents]
    needs = [item.pages + sum(pool.run_pages[run] for run in pool.chains[item.context]) for item in waiting]
    if not view.passes and waiting and max(needs) <= CAPACITY:
        assert policy(name).plan(view).moves_pages
