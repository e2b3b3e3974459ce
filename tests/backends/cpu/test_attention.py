"""Attention in the ways of a CPU against the definition, and the copies of rows that it keeps."""

# ruff: noqa: F403

from collections.abc import Iterator

import pytest

from pie_mlx.backends.cpu import mirror, numerics
from pie_mlx.backends.cpu.mirror import Mirror, Mirrors
from pie_mlx.backends.cpu.pool import CpuPool
from tests.instances import instances
from tests.metal.test_attention import *
from tests.metal.test_attention import Tokens, World, assert_close


@pytest.fixture(
    autouse=True,
    scope="module",
    params=[(0, 1 << 10, 1 << 8), (0, 2 * 4, 4), (numerics.MANY_SCORES, 1 << 10, 1 << 8)],
    ids=["powers", "blocks", "exponentials"],
)
def ways(request: pytest.FixtureRequest) -> Iterator[None]:
    """Single tokens by powers of two, as in large batches, with keys in blocks, as of long ones, and by MLX's own
    attention."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(World, "kind", CpuPool)
        for name, value in zip(("MANY_SCORES", "IN_PLACE", "BLOCK"), request.param, strict=True):
            patch.setattr(numerics, name, value)
        yield


def mirrors(world: World) -> Mirrors:
    assert isinstance(world.memory.batches, Mirrors)
    return world.memory.batches


def test_batches_beyond_the_mirrors_limit_are_gathered_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "MIRROR_BYTES", 0)
    world = World()
    sequences = [Tokens() for _ in range(3)]
    world.step([(sequence, 6) for sequence in sequences])
    for _ in range(3):
        assert_close(world.step([(sequence, 1) for sequence in sequences]))
    assert mirrors(world).bytes() == 0


@pytest.fixture
def made() -> Iterator[list[Mirror]]:
    """The mirrors that were made, in order."""
    with instances(Mirror) as found:
        yield found


def test_rows_that_left_are_given_up_when_they_are_too_many(made: list[Mirror]) -> None:
    world = World()
    sequences = [Tokens() for _ in range(8)]
    world.step([(sequence, 3) for sequence in sequences])
    world.step([(sequence, 1) for sequence in sequences])
    for staying in (6, 2):
        assert_close(world.step([(sequence, 1) for sequence in sequences[-staying:]]))
        assert [len(mirror.rows) for mirror in made] == [8 if staying == 6 else 2]


def test_a_mirror_that_is_not_read_is_given_up(made: list[Mirror]) -> None:
    world = World()
    pair, prompt = [Tokens(), Tokens()], Tokens()
    world.step([(sequence, 3) for sequence in pair])
    world.step([(sequence, 1) for sequence in pair])
    for _ in range(12):
        world.step([(prompt, 2)])
    world.step([(sequence, 1) for sequence in (Tokens(), Tokens())], window=4)
    assert len(made) > 1
    assert made[-1].key == (4, None)
    assert mirrors(world).bytes() == made[-1].bytes
