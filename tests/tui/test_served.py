"""`textual serve` shows the monitor in a browser: one process for each visitor, over a websocket."""

import asyncio
import contextlib
import os
import shlex
import signal
import subprocess
import sys

import pytest
from aiohttp import ClientConnectionError, ClientSession, WSMsgType

from tests.ports import free_port

COMMAND = shlex.join([sys.executable, "-m", "pie_mlx", "top", "--demo"])
SERVE = "import sys; from textual_serve.server import Server; Server(sys.argv[1], port=int(sys.argv[2])).serve()"


@pytest.fixture
def port(tmp_path):
    """Of a server that serves the demo."""
    number = free_port()
    environment = {**os.environ, "PIE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", SERVE, COMMAND, str(number)]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True) as server,
    ):
        yield number
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)


async def connected(browser, port):
    """Its websocket, once the server listens."""
    while True:
        try:
            return await browser.ws_connect(f"http://127.0.0.1:{port}/ws?width=120&height=40")
        except ClientConnectionError:
            await asyncio.sleep(0.05)


async def wait_for(channel, text):
    """Until `text` is drawn. Raises AssertionError with what was drawn when the program ends before."""
    drawn = ""
    async for message in channel:
        if message.type is WSMsgType.BINARY:
            drawn += message.data.decode(errors="replace")
        if text in drawn:
            return
    raise AssertionError(drawn)


@pytest.mark.timeout(120)
async def test_a_browser_shows_the_monitor_and_its_keys_work(port):
    async with ClientSession() as browser:
        channel = await connected(browser, port)
        await wait_for(channel, "DEMO")
        await channel.send_json(["stdin", "6"])
        await wait_for(channel, "read_file")
        await channel.send_json(["stdin", "q"])
        async for message in channel:
            assert message.type is WSMsgType.BINARY
        await channel.close()
