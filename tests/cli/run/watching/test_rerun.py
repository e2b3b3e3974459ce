"""`pie run --watch`."""

import itertools
import os
import signal
import threading

import pytest

from pie_mlx.cli.run.watching import rerun
from tests.server.conftest import server

__all__ = ["server"]

pytestmark = pytest.mark.timeout(60)

SOURCE = """
import asyncio
from inferlet import Context, Model, runtime, session

BEGINNING = "You are a helpful assistant who knows the sea. " * 20

async def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        await context.system(BEGINNING).user("TEXT").flush()
        print("TEXT kept", context.reuse.from_memory // 16, "pages")
    AFTER
"""


def source(text, after="return 'ended'"):
    return SOURCE.replace("TEXT", text).replace("AFTER", after)


class Editor(threading.Thread):
    """Writes the next text whenever a run has ended, then presses Ctrl-C."""

    def __init__(self, file, texts):
        super().__init__(daemon=True)
        self.file, self.texts, self.rests = file, texts, threading.Semaphore(0)

    def tell(self, common, line):
        if "runs again when" in line:
            self.rests.release()

    def run(self):
        for text in self.texts:
            self.rests.acquire()
            draft = self.file.with_suffix(".draft")
            draft.write_text(text)
            os.replace(draft, self.file)
        self.rests.acquire()
        os.kill(os.getpid(), signal.SIGINT)


def test_a_program_runs_again_when_it_is_saved_and_the_kv_of_its_beginning_is_kept(pie, tmp_path, monkeypatch):
    file = tmp_path / "agent.py"
    file.write_text(source("one"))
    editor = Editor(file, [source("two"), "def main(:", source("three")])
    monkeypatch.setattr(rerun, "tell", editor.tell)
    editor.start()
    ended = pie("run", "--watch", file)
    shown = "".join(f"{name} kept {pages} pages\nended\n" for name, pages in (("one", 0), ("two", 19), ("three", 19)))
    assert (ended.code, ended.out) == (130, shown)
    assert ended.err == f"pie: {file}:1: invalid syntax\n     try: correct the syntax\n"


def test_a_run_that_goes_on_ends_when_its_files_change(pie, tmp_path, monkeypatch):
    file = tmp_path / "agent.py"
    file.write_text("import asyncio\nasync def main(input):\n    print(1)\n    await asyncio.sleep(1e9)\n")
    editor = Editor(file, [])
    looks = itertools.count()

    def look(paths):
        if next(looks) == 3:
            file.write_text("async def main(input): return 2\n")
        return snapshot(paths)

    snapshot = rerun.snapshot
    monkeypatch.setattr(rerun, "snapshot", look)
    monkeypatch.setattr(rerun, "tell", editor.tell)
    editor.start()
    ended = pie("run", "--watch", "--dummy", file)
    assert (ended.code, ended.out.splitlines()[-1], ended.err) == (130, "2", "")


def test_a_running_engine_runs_it_again_too(pie, tmp_path, monkeypatch, server):
    monkeypatch.setenv("PIE_HOME", str(server.home))
    file = tmp_path / "agent.py"
    file.write_text("async def main(input): return 1\n")
    editor = Editor(file, ["async def main(input): return 2\n"])
    monkeypatch.setattr(rerun, "tell", editor.tell)
    editor.start()
    ended = pie("run", "--watch", file)
    assert (ended.code, ended.out, ended.err) == (130, "1\n2\n", "")


@pytest.mark.parametrize("words", [("--port", "0"), ("-d",)])
def test_what_ends_with_each_run_is_not_watched(pie, words):
    assert (ended := pie("run", "--watch", "a.py", *words)).code == 2
    assert "exclude each other" in ended.err
