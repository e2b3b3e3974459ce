"""The pages of the pool by holder: those of each context alone, then those that several hold."""

import msgspec

from pie_mlx.plural import plural
from pie_mlx.tui.model.context import ContextState
from pie_mlx.tui.model.pool_books import USED, PoolBooks, PoolGroup
from pie_mlx.tui.model.process import ProcessState
from pie_mlx.tui.model.state import MonitorState
from pie_mlx.tui.model.text import age

OTHERS = "shared or of others"
KINDS = {"working": "(being filled)", "state": "(state of recurrent layers)"}


class HeldPages(msgspec.Struct, frozen=True):
    """`pages` of the programs of an account, which several contexts hold if `shared`.

    `owner` names the program and its launch, `holders` the contexts; `used_seconds` is when the latest pass read them,
    `created_seconds` when the first of the holders began. `runs` are the physical pages, where they are known, each a
    first page and a number; `stored` ones also lie on disk.
    """

    owner: str
    account: int
    pages: int
    shared: bool = False
    holders: str = ""
    created_seconds: float = 0.0
    used_seconds: float = 0.0
    runs: tuple[tuple[int, int], ...] = ()
    stored: bool = False

    def described(self, now_seconds: float) -> str:
        """A line about them."""
        parts = [self.owner, self.holders, plural(self.pages, "page") + (", shared" if self.shared else "")]
        if self.created_seconds:
            parts.append(f"since {age(now_seconds - self.created_seconds)}")
        if self.used_seconds:
            parts.append(f"last used {age(max(0.0, now_seconds - self.used_seconds))} ago")
        return ", ".join(filter(None, parts))


def held_pages(state: MonitorState) -> list[HeldPages]:
    """The used pages: by account, in it by process and context; then those of several programs or of other users."""
    contexts: dict[str, list[ContextState]] = {}
    for context in state.pool_contexts:
        contexts.setdefault(context.process, []).append(context)
    owners = owner_names(state)
    held: list[HeldPages] = []
    for process in sorted(state.processes.values(), key=lambda process: process.account):
        pages = state.pool.held.get(process.id)
        if pages is not None and pages.own:
            held += _held_by(process, pages.own, owners[process.account], contexts.get(process.id, []))
    others = state.pages.used - sum(each.pages for each in held)
    return [*held, HeldPages(OTHERS, -1, others, shared=True)] if others > 0 else held


def booked_pages(state: MonitorState, books: PoolBooks) -> list[HeldPages]:
    """The used pages as the engine's books have them: by account, those of one context before those of several."""
    owners = owner_names(state)
    held = [_booked(state, owners, group) for group in books.groups if group.kind in USED]
    return sorted(held, key=lambda each: (each.account < 0, each.account, each.shared))


def _booked(state: MonitorState, owners: dict[int, str], group: PoolGroup) -> HeldPages:
    contexts = [state.contexts[number] for number in group.contexts if number in state.contexts]
    account = contexts[0].account if contexts else -1
    kind = KINDS.get(group.kind, "")
    names = [f"#{number}" for number in group.contexts] + [f"{group.others} of others"] * bool(group.others)
    return HeldPages(
        owners.get(account, OTHERS),
        account,
        group.count,
        shared=group.holders > 1,
        holders=" ".join(filter(None, (*names, kind))),
        created_seconds=min((context.created for context in contexts), default=0.0),
        used_seconds=max((context.passed for context in contexts), default=0.0),
        runs=group.pages,
        stored=group.stored,
    )


def owner_names(state: MonitorState) -> dict[int, str]:
    """The program that was launched for each account, with the beginning of its id."""
    names: dict[int, str] = {}
    for process in state.processes.values():
        names.setdefault(process.account, f"{process.program.partition('@')[0]} {process.id[:4]}")
    return names


def _held_by(process: ProcessState, own_pages: int, owner: str, contexts: list[ContextState]) -> list[HeldPages]:
    alone = [
        HeldPages(
            owner,
            process.account,
            context.own_pages,
            holders=_chain(context),
            created_seconds=context.created,
            used_seconds=context.passed,
        )
        for context in contexts
        if context.own_pages
    ]
    between = own_pages - sum(each.pages for each in alone)
    if between <= 0:
        return alone
    sharing = [context for context in contexts if context.shared_pages] or contexts
    together = HeldPages(
        owner,
        process.account,
        between,
        shared=len(sharing) > 1,
        holders=" ".join(f"#{context.id}" for context in sharing),
        created_seconds=min((context.created for context in sharing), default=0.0),
        used_seconds=max((context.passed for context in sharing), default=0.0),
    )
    return [*alone, together]


def _chain(context: ContextState) -> str:
    return f"#{context.id}" + (f" forked from #{context.parent}" if context.parent else "")
