"""The integrity check finds what it is there to find."""

from collections import OrderedDict
from collections.abc import Callable

import pytest

from pie_mlx.engine.kv import IntegrityError
from pie_mlx.engine.kv.contexts.context import Context
from pie_mlx.engine.kv.pages.pool import PagePool
from tests.engine.kv.world import World


@pytest.fixture
def world() -> World:
    """One resident context, one off-pool, one snapshot."""
    world = World(pages=12, page_size=4)
    context = world.filled(list(range(10)))
    world.save(context, "ann", "a")
    world.suspend(world.filled([1] * 9))
    world.check()
    return world


def resident(world: World) -> Context:
    return world.store.contexts[1]


def pool(world: World) -> PagePool:
    return world.store.pool


def swap_first_pages(context: Context) -> None:
    first, second, *others = context.block_table
    context.block_table = [second, first, *others]


CORRUPTIONS: dict[str, Callable[[World], object]] = {
    "a page was lost": lambda world: pool(world).free_ids.popitem(),
    "two owners": lambda world: pool(world).free_ids.update({resident(world).block_table[0]: None}),
    "count of contexts": lambda world: setattr(resident(world).leaf, "contexts", 2),
    "count of snapshots": lambda world: setattr(resident(world).leaf, "snapshots", 7),
    "miscounted": lambda world: setattr(pool(world).cached, "pages", 1),
    "does not follow the trie": lambda world: swap_first_pages(resident(world)),
    "tokens without a page": lambda world: resident(world).working.extend(resident(world).working * 4),
    "more inherited tokens": lambda world: setattr(resident(world), "inherited_tokens", 99),
    "highest position": lambda world: setattr(resident(world), "highest_position", 99),
    "not that of its content": lambda world: setattr(resident(world).leaf.pages[-1], "key", bytes(16)),
    "another number of images": lambda world: setattr(resident(world).leaf.pages[0], "wanted", 0),
    "holds pages": lambda world: world.store.contexts[2].working.append((0, 0)),
}


@pytest.mark.parametrize(("complaint", "corrupt"), CORRUPTIONS.items(), ids=CORRUPTIONS.keys())
def test_a_contradiction_is_named(world: World, complaint: str, corrupt: Callable[[World], object]):
    corrupt(world)
    with pytest.raises(IntegrityError, match=complaint):
        world.store.check_integrity()


def test_a_parent_that_would_be_reclaimed_before_its_child_is_found(world: World):  # K8
    lru = pool(world).cached
    lru.segments = OrderedDict(reversed(lru.segments.items()))
    with pytest.raises(IntegrityError, match="before its child"):
        world.store.check_integrity()
