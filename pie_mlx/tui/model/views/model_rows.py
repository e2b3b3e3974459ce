"""One row per model of the engine."""

from collections.abc import Mapping, Sequence

import msgspec

from pie_mlx.tui.model.facts import Facts, ModelRow
from pie_mlx.tui.model.model_pool import ModelPool
from pie_mlx.tui.model.state import MonitorState
from pie_mlx.tui.model.text import one_line


def model_rows(state: MonitorState, facts: Facts) -> tuple[ModelRow, ...]:
    """Every model, the default one first: as events tell, and what only a server knows besides."""
    asked = {(name := one_line(row.name)): msgspec.structs.replace(row, name=name) for row in facts.models}
    first = state.default_model
    names = {name: None for name in [*([first] if first in state.pools else []), *asked, *state.pools]}
    users = _users(state)
    return tuple(_row(asked.get(name), state.pools.get(name), len(users.get(name, ())), name) for name in names)


def _row(asked: ModelRow | None, pool: ModelPool | None, users: int, name: str) -> ModelRow:
    if pool is None:
        return asked or ModelRow(name, "unloaded")
    row = asked or ModelRow(name, pool.state, processes=users)
    has_pages = bool(pool.pages.total)
    return msgspec.structs.replace(
        row,
        state=pool.state,
        size_bytes=pool.size_bytes or row.size_bytes,
        progress=pool.progress if pool.state == "loading" else None,
        pages=pool.pages if has_pages else None,
        price=pool.price if has_pages else None,
        draft_model=pool.draft_model or row.draft_model,
        tokens_per_second=round(pool.tokens_per_second, 3),
        stays=row.stays if pool.state == row.state else "",
        expires_in_seconds=row.expires_in_seconds if pool.state == row.state else None,
    )


def _users(state: MonitorState) -> Mapping[str, Sequence[str]]:
    """The programs with contexts of each model."""
    users: dict[str, dict[str, None]] = {}
    for context in state.contexts.values():
        users.setdefault(context.model, {})[context.process] = None
    return {name: list(found) for name, found in users.items()}
