"""Clients of a user who has used more than its share of the server's loop wait; others do not."""

import json

import pytest

from pie_mlx.engine.hosting.engine_time import LoopShares
from pie_mlx.runtime.registry.launch import User
from tests.server.speaking import speak

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def in_debt(server):
    """Mallory has used up half a second of a clock that stands still since."""
    registry, now = server.server.service.registry, [0.0]
    shares, registry.loop_shares = registry.loop_shares, LoopShares(lambda user: True, lambda: now[0])

    async def work():
        now[0] += 1.0

    server.call(registry.loop_shares.charging("mallory", work))
    yield
    registry.loop_shares = shares


async def test_who_has_used_more_than_its_share_waits_and_launches_nothing_once_it_is_gone(server, in_debt):
    async with await speak(server, "ada") as ada, await speak(server) as mallory:
        await mallory.begin("auth_identify", username="mallory")
        await mallory.begin("launch_process", inferlet="player", input=json.dumps({"do": "wait"}))
        await ada.events(await ada.launch({"do": "who"}))
        await mallory.close()
        while len(server.server.service.connections) > 1:
            await ada.ask("ping")
        assert {
            record.username for record in server.server.service.registry.records(User("root", admin=True), all=True)
        } == {"ada"}
