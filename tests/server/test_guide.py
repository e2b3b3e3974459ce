"""The code of the guide runs."""

import re
from pathlib import Path

import pytest

from tests.server.running import RunningServer

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs/guide/serving.md"
TEXT = GUIDE.read_text()
SCRIPTS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("home")).start()
    yield running.url.removeprefix("ws://")
    running.stop()


@pytest.mark.parametrize("script", SCRIPTS, ids=["openai", "schema", "responses", "anthropic", "ollama", "client"])
def test_its_scripts_run(script, address, capsys):
    assert "127.0.0.1:8080" in script
    code = script.replace("127.0.0.1:8080", address)
    exec(compile(code, "serving.md", "exec"), {"__name__": "guide"})
    assert capsys.readouterr().out


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", TEXT))
def test_its_links_lead_somewhere(link):
    assert (GUIDE.parent / link.partition("#")[0]).exists()
