"""An engine whose own output nobody reads: a service that keeps the pipe, a terminal that is stopped."""

import signal

import pytest

from tests.hostile.conftest import LANGUAGES
from tests.hostile.launching import stranger
from tests.hostile.target import Target

pytestmark = pytest.mark.timeout(120)
LINES = 300
"""Of a thousand characters: several times what a pipe holds."""


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    running = Target(tmp_path_factory.mktemp("hostile") / "home", config="[runtime]\n")
    yield running
    assert running.end(signal.SIGINT) == 130
    running.clean_up()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_serves_on_while_programs_write_and_ends_when_told(target, language):
    async with stranger(target, language) as mallory:
        with target.stays_healthy():
            assert await (await mallory.launch("write_errors", lines=LINES)).result() == "written"
