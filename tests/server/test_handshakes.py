"""Clients that connect again and again wait while programs run; others do not."""

import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from pie_mlx.engine.hosting.engine_time import BURST_SECONDS, MOST_DEBT_SECONDS, LoopShares
from tests.server.speaking import speak

pytestmark = pytest.mark.timeout(30)

THIS_MACHINE = "\0"


@pytest.fixture
def charged(server):
    """What users and machines have used while others have programs, on a clock that stands still."""
    registry = server.server.service.registry
    shares, registry.loop_shares = registry.loop_shares, LoopShares(lambda user: True, lambda: 0.0)
    yield registry.loop_shares
    registry.loop_shares = shares


async def test_a_handshake_waits_for_its_turn_and_is_answered(server, charged):
    for _ in range(28):
        async with connect(server.url):
            pass
    assert 0.0 < charged.rest_seconds(THIS_MACHINE) < 1.0


async def test_who_would_wait_long_is_told_when_to_come_again(server, charged):
    charged.charge(THIS_MACHINE, MOST_DEBT_SECONDS)
    with pytest.raises(InvalidStatus) as refused:
        async with connect(server.url):
            pass
    assert refused.value.response.status_code == 503
    assert int(refused.value.response.headers["Retry-After"]) >= 1


async def test_a_client_that_is_logged_in_is_answered_beside_new_ones_that_wait(server, charged):
    async with await speak(server, "ada") as ada:
        charged.charge(THIS_MACHINE, BURST_SECONDS + 0.01)
        waiting = asyncio.create_task(connect(server.url).__aenter__())
        assert await ada.ask("ping") == (True, "Pong")
        await (await waiting).close()
