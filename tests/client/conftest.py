import pytest

from pie_mlx.client import connect
from tests.server.conftest import server

__all__ = ["client", "server"]


@pytest.fixture
async def client(server):
    async with await connect(server.url, username="ada") as connected:
        yield connected
