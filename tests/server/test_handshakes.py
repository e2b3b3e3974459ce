"""Clients that connect again and again wait while programs run; others do not."""

import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from pie_mlx.engine.hosting.engine_time import LoopShares
from pie_mlx.server.service import HANDSHAKE_TERMS
from tests.server.speaking import speak

pytestmark = pytest.mark.timeout(30)

THIS_MACHINE = "\0"


@pytest.fixture
def charged(server):
    """What machines have used while programs run, on a clock that stands still."""
    service = server.server.service
    shares, service.handshakes = service.handshakes, LoopShares(lambda machine: True, lambda: 0.0, HANDSHAKE_TERMS)
    yield service.handshakes
    service.handshakes = shares


async def test_a_handshake_waits_for_its_turn_and_is_answered(server, charged):
    charged.charge(THIS_MACHINE, HANDSHAKE_TERMS.burst_seconds)
    for _ in range(3):
        async with connect(server.url):
            pass
    assert 0.0 < charged.rest_seconds(THIS_MACHINE) < 1.0


async def test_who_would_wait_long_is_told_when_to_come_again(server, charged):
    charged.charge(THIS_MACHINE, HANDSHAKE_TERMS.most_debt_seconds)
    with pytest.raises(InvalidStatus) as refused:
        async with connect(server.url):
            pass
    assert refused.value.response.status_code == 503
    assert int(refused.value.response.headers["Retry-After"]) >= 1


async def test_a_client_that_is_logged_in_is_answered_beside_new_ones_that_wait(server, charged):
    async with await speak(server, "ada") as ada:
        charged.charge(THIS_MACHINE, HANDSHAKE_TERMS.burst_seconds + 0.01)
        waiting = asyncio.create_task(connect(server.url).__aenter__())
        assert await ada.ask("ping") == (True, "Pong")
        await (await waiting).close()
