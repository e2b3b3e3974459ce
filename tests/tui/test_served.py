"""`pie top --web` shows the monitor in a browser: one process for each visitor, over a websocket."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest
from aiohttp import ClientSession, CookieJar, WSMsgType, WSServerHandshakeError
from click.testing import CliRunner

from pie_mlx.cli.main import pie
from pie_mlx.cli.options import Common
from pie_mlx.cli.top.monitor import TopRequest


@pytest.fixture
def address(tmp_path):
    """Of a server that serves the demo, with its token."""
    environment = {**os.environ, "PIE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "pie_mlx", "top", "--demo", "--web"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, env=environment, start_new_session=True, text=True
        ) as server,
    ):
        yield server.stdout.readline().removeprefix("monitor at ").strip()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)


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
async def test_a_browser_with_the_token_shows_the_monitor_and_one_without_is_refused(address):
    page, _, token = address.partition("?token=")
    channel_address = page.replace("http", "ws") + "ws?width=120&height=40"
    async with ClientSession() as stranger:
        for path, headers, status in (
            ("", {}, 401),
            ("static/js/textual.js", {}, 401),
            ("?token=" + "x" * len(token), {}, 401),
            ("?token=" + token, {"Host": "example.com"}, 403),
            ("?token=" + token, {"Origin": "http://example.com"}, 403),
        ):
            answer = await stranger.get(page + path, headers=headers, allow_redirects=False)
            assert answer.status == status, path
        with pytest.raises(WSServerHandshakeError) as refused:
            await stranger.ws_connect(channel_address)
        assert refused.value.status == 401
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as browser:
        answer = await browser.get(address)
        assert (answer.status, token in str(answer.url)) == (200, False)
        assert "pie top" in await answer.text()
        channel = await browser.ws_connect(channel_address, origin=page.rstrip("/"))
        await wait_for(channel, "DEMO")
        await channel.send_json(["stdin", "6"])
        await wait_for(channel, "read_file")
        await channel.send_json(["stdin", "q"])
        async for message in channel:
            assert message.type is WSMsgType.BINARY
        await channel.close()


def test_without_textual_serve_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    monkeypatch.delitem(sys.modules, "pie_mlx.cli.top.web", raising=False)
    ran = CliRunner().invoke(pie, ["top", "--demo", "--web"])
    assert "pip install 'pie-mlx[web]'" in ran.output + str(ran.exception) + getattr(ran.exception, "hint", "")
    assert ran.exit_code != 0


def test_the_monitor_in_the_browser_has_the_options_of_the_command():
    request = TopRequest(None, True, True, "nord", None, alert=("price>1",), web=True, port=8000)
    words = ["top", "--theme", "nord", "--url", "ws://a", "--alert", "price>1", "--demo", "--read-only"]
    assert request.words(Common(url="ws://a")) == words
