"""Small pictures of an engine for the planner's tests."""

from collections.abc import Iterable
from dataclasses import dataclass

from pie_mlx.engine.policies import Chunk, ContextView, Limits, Plan, RequestView, SharedRun, View


@dataclass(frozen=True)
class Actor:
    """A context with what it wants."""

    context: ContextView
    passes: tuple[Chunk, ...] = ()
    requests: tuple[RequestView, ...] = ()


def resident(
    context: int,
    pages: int,
    *,
    runs: int = 0,
    wants: int = 0,
    atomic: bool = True,
    bid: float = 0.0,
    account: int | None = None,
    waited: int = 0,
    shared: tuple[int, ...] = (),
    fresh: bool = False,
    defaulted: bool = False,
    user: str = "",
    contexts: int = 1,
) -> Actor:
    """A context, or a gang of `contexts`, with `pages` private pages, and a pass of `runs` tokens or one that lacks
    `wants` pages."""
    view = ContextView(
        context,
        context if account is None else account,
        bid=bid,
        waiting_ticks=waited,
        arrival=context,
        pages=float(pages),
        private_pages=pages,
        shared_runs=shared,
        fresh=fresh,
        defaulted=defaulted,
        has_work=bool(runs or wants),
        user=user,
    )
    passes = (Chunk(context, runs, atomic, contexts),) if runs else ()
    requests = (RequestView(context, wants, 1, True),) if wants else ()
    return Actor(view, passes, requests)


def off_pool(
    context: int,
    needs: int,
    *,
    bid: float = 0.0,
    account: int | None = None,
    waited: int = 0,
    shared: tuple[int, ...] = (),
    defaulted: bool = False,
) -> Actor:
    """A suspended context that needs `needs` pages to return."""
    view = ContextView(
        context,
        context if account is None else account,
        resident=False,
        bid=bid,
        waiting_ticks=waited,
        arrival=context,
        shared_runs=shared,
        defaulted=defaulted,
    )
    return Actor(view, requests=(RequestView(context, needs),))


def scene(
    capacity: int,
    actors: Iterable[Actor],
    *,
    shared: tuple[SharedRun, ...] = (),
    limits: Limits | None = None,
    stalled: bool = False,
) -> View:
    """A view whose available pages are those no actor holds."""
    actors = tuple(actors)
    used = sum(actor.context.private_pages for actor in actors) + sum(run.pages for run in shared)
    return View(
        1,
        capacity,
        capacity - used,
        tuple(actor.context for actor in actors),
        tuple(item for actor in actors for item in actor.passes),
        tuple(item for actor in actors for item in actor.requests),
        shared,
        limits or Limits(),
        stalled,
    )


def ran(plan: Plan) -> list[int]:
    """Contexts with rows."""
    return [chunk.context for chunk in plan.chunks]


def suspended(plan: Plan) -> list[int]:
    """Suspended contexts in the order of the plan."""
    return [item.context for item in plan.suspensions]


def waiting(plan: Plan) -> list[int]:
    """Contexts that wait."""
    return sorted(item.context for item in plan.waits)
