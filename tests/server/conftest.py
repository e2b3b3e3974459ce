import pytest
from pie_client import PieClient

from tests.server.programs import PLAYER
from tests.server.running import RunningServer, write_program


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server without authentication, with the player installed."""
    running = RunningServer(tmp_path_factory.mktemp("home")).start()
    program, manifest = write_program(tmp_path_factory.mktemp("player"), "player", PLAYER)
    running.server.service.programs.install(program.read_bytes(), manifest.read_text())
    yield running
    running.stop()


@pytest.fixture
async def client(server):
    """The published client, connected as ada."""
    async with PieClient(server.url) as connected:
        await connected.authenticate("ada")
        yield connected
