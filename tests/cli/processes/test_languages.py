"""Programs of every language are built, installed, run and looked at with the same words."""

import json

import pytest

from tests.cli.schemas import parsed
from tests.server.running import RunningServer

pytestmark = pytest.mark.timeout(60)

PYTHON = """
import sys
from inferlet import session

async def main(input):
    print("out")
    print("err", file=sys.stderr)
    session.send({"a": 1})
    if input["waits"]:
        await session.receive()
    return "done"
"""
JAVASCRIPT = """
import { session } from 'inferlet';

export async function main(input) {
  console.log('out');
  console.error('err');
  session.send({ a: 1 });
  if (input.waits) await session.receive();
  return 'done';
}
"""
SOURCES = {
    "main.py": PYTHON,
    "main.js": JAVASCRIPT,
    "main.ts": JAVASCRIPT.replace("(input)", "(input: { waits: boolean })"),
}
MANIFEST = """
[package]
name = "in-{}"
version = "0.1.0"
[parameters]
waits = {{ type = "bool", default = false }}
"""
LANGUAGES = [file.removeprefix("main.") for file in SOURCES]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("home"), isolation="process").start()
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def home(server, monkeypatch):
    """The home of the engine that runs."""
    monkeypatch.setenv("PIE_HOME", str(server.home))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The directory of the program in each language."""
    found = {}
    for file, source in SOURCES.items():
        language = file.removeprefix("main.")
        found[language] = tmp_path_factory.mktemp(language)
        (found[language] / file).write_text(source)
        (found[language] / "Pie.toml").write_text(MANIFEST.format(language))
    return found


@pytest.fixture
def install(pie, folders):
    """Builds and installs the program in a language, and answers its name."""

    def install(language):
        name, folder = f"in-{language}", folders[language]
        if name not in pie("list", "-q").out:
            package = folder / "dist" / f"{name}-0.1.0.pie"
            assert pie("build", folder).out == f"{package}\n"
            assert pie("install", package).out == f"{name}@0.1.0\n"
        return name

    return install


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_built_and_installed_runs_by_its_name_and_leaves_a_log(pie, install, language):
    name = install(language)
    assert pie("run", "-q", name).out == "done\n"
    logs = parsed("logs", pie("logs", "--json").out)
    process = next(log["process"] for log in logs if log["program"] == f"{name}@0.1.0")
    ended = pie("logs", process)
    assert (ended.code, ended.out, ended.err) == (0, 'out\n{"a":1}\ndone\n', "err\n")


def test_all_are_seen_while_they_run_and_end_when_they_are_killed(pie, install):
    running = {
        pie("run", "-q", "-d", install(one), "--", "--waits").out.split()[0]: f"in-{one}@0.1.0" for one in LANGUAGES
    }
    rows = parsed("ps", pie("ps", "--json").out)
    assert {row["id"]: row["program"] for row in rows if row["state"] == "running"} == running
    watched = json.loads(pie("top", "--json").out)["programs"]
    assert running.items() <= {one["id"]: one["program"] for one in watched}.items()
    for process in running:
        assert pie("kill", process).code == 0
    assert pie("ps", "-q").out == ""
