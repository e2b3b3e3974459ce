"""Items as a forest: each below the one it came from."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key", int, str)


def forest(items: Iterable[Item], key: Callable[[Item], Key], parent: Callable[[Item], Key]) -> list[tuple[Item, str]]:
    """Parents before children, in the order of `items`, each with the branches drawn before it. An item whose parent is
    not among them is a root. Works at any depth; items that are their own ancestors are left out."""
    items = list(items)
    known = {key(item) for item in items}
    children: dict[Key, list[Item]] = {}
    roots: list[Item] = []
    for item in items:
        above = parent(item)
        (children.setdefault(above, []) if above in known and above != key(item) else roots).append(item)
    rows: list[tuple[Item, str]] = []
    pending = [(root, "", "") for root in reversed(roots)]
    while pending:
        item, branches, below = pending.pop()
        rows.append((item, branches))
        lower = children.get(key(item), [])
        for place, child in reversed(list(enumerate(lower, 1))):
            is_last = place == len(lower)
            pending.append((child, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  ")))
    return rows
