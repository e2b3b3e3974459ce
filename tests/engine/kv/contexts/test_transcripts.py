"""Contexts as their tokens alone, in pages of any size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.kv import PageStore, WorkingToken
from tests.engine.kv.world import World


def opened(pages: int, page_size: int, world: World, context: int) -> tuple[PageStore, int]:
    """Another store that got the context's tokens, and the context it opened."""
    store = PageStore(pages=pages, page_size=page_size, identity=b"other weights")
    store.put_snapshot("ann", "a", world.store.contexts[context].transcript(), None)
    found = store.open("ann", "a")
    assert found is not None
    return store, found.context


@pytest.fixture
def world_with_content() -> tuple[World, int]:
    """Ten tokens, eight of them in committed pages."""
    world = World(pages=12, page_size=4)
    return world, world.filled([1] * 10)


@given(st.integers(0, 30), st.integers(1, 9))
def test_tokens_survive_pages_of_another_size(length: int, page_size: int) -> None:  # N7
    world = World(pages=12, page_size=4)
    context = world.filled(list(range(1, length + 1)))
    store, copy = opened(40, page_size, world, context)
    before, after = world.store.contexts[context].transcript(), store.contexts[copy].transcript()
    assert after.tokens == before.tokens
    assert after.committed == before.committed // page_size * page_size
    assert store.sequence_length(copy) == length
    store.check_integrity()


def test_all_of_it_is_computed_again(world_with_content: tuple[World, int]) -> None:  # N7
    world, context = world_with_content
    store, copy = opened(12, 4, world, context)
    fills = store.suspender.restore(copy).fills
    replayed = [
        WorkingToken(token, position, mask)
        for fill in fills
        for token, position, mask in zip(fill.tokens, fill.positions, fill.masks, strict=True)
    ]
    assert replayed == world.store.contexts[context].transcript().tokens
    store.suspender.finish_restore(copy)
    store.check_integrity()


def test_what_is_cached_is_attached(world_with_content: tuple[World, int]) -> None:  # N7, K5
    world, context = world_with_content
    world.store.put_snapshot("ann", "a", world.store.contexts[context].transcript(), None)
    found = world.store.open("ann", "a")
    assert found is not None
    restored = world.store.suspender.restore(found.context)
    assert restored.attached == 2
    assert [len(fill.tokens) for fill in restored.fills] == [2]
