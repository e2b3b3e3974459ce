"""The code of README and docs runs."""

import asyncio
import threading

import pytest

from pie_mlx import Engine
from tests.docs.pages import PAGES, ROOT, WRITTEN, languages, name, python_blocks

ELSEWHERE = {
    "docs/guide/adapters.md": "tests/engine/adapters/test_guide.py",
    "docs/guide/serving.md": "tests/server/test_guide.py",
    "docs/guide/speculation.md": "tests/engine/speculation/drafting/test_guide.py",
    "docs/guide/testing.md": "tests/testing/test_plugin.py",
    "docs/guide/text.md": "tests/engine/text/test_guide.py",
    "docs/guide/typescript.md": "tests/javascript/inferlet/test_guide.py",
}
"""Pages whose code other tests run."""

BLOCKS = [block for page in PAGES if name(page) not in ELSEWHERE for block in python_blocks(page)]
PROGRAMS = [block for block in BLOCKS if block.is_program]
SCRIPTS = [block for block in BLOCKS if not block.is_program]
INPUT = {"prompt": "What can you do?"}

pytestmark = pytest.mark.timeout(120)


class Running:
    """An engine on a loop of its own, for programs from files."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._engine = Engine("pie-tiny", total_pages=256)
        self._wait(self._engine.__aenter__())

    def run(self, path, messages):
        return self._wait(self._engine.run(path, INPUT, on_message=messages.append))

    def stop(self):
        self._wait(self._engine.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@pytest.fixture(scope="module")
def engine():
    running = Running()
    yield running
    running.stop()


@pytest.mark.parametrize("block", PROGRAMS, ids=str)
def test_a_program_runs(block, engine, tmp_path):
    file = tmp_path / "main.py"
    file.write_text(block.code, encoding="utf-8")
    messages = []
    assert engine.run(file, messages) is not None or messages


@pytest.mark.parametrize("block", SCRIPTS, ids=str)
def test_a_script_runs(block, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    exec(compile(block.code, str(block), "exec"), {"__name__": "docs"})
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", WRITTEN, ids=name)
def test_every_block_is_of_a_kind_that_is_checked(page):
    assert languages(page) <= {"", "python", "typescript", "mermaid"}


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items(), ids=str)
def test_what_is_run_elsewhere_is(page, test):
    assert (ROOT / page).exists()
    assert page.rpartition("/")[2] in (ROOT / test).read_text(encoding="utf-8")
