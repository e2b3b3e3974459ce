import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pie_mlx.cli.new import NAMES
from tests.cli.schemas import parsed
from tests.pytest_plugin import PLUGIN


@pytest.mark.parametrize("template", NAMES)
def test_a_new_program_holds(pie, tmp_path, template):
    folder = tmp_path / "my-prog"
    assert pie("new", "my-prog", "-o", folder, "--template", template).code == 0
    assert pie("check", folder).out.startswith("my-prog@0.1.0\n  ok: ")


def test_the_tests_of_new_programs_pass_offline(pie, tmp_path):
    for template in NAMES:
        pie("new", template, "-o", tmp_path / template, "--template", template)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-q", "-p", "no:cacheprovider", "--import-mode=importlib", tmp_path],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{2 * len(NAMES)} passed" in ended.stdout


@pytest.fixture
def interpreter(tmp_path, monkeypatch):
    """One in a directory of an environment below the current one."""
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(own))
    monkeypatch.chdir(tmp_path)
    return own


@pytest.mark.parametrize(("path", "typed"), [("", ".venv/bin/python"), (".venv/bin", "python")])
def test_the_test_is_run_by_the_interpreter_that_has_the_package(pie, tmp_path, monkeypatch, interpreter, path, typed):
    monkeypatch.setenv("PATH", str(tmp_path / path) if path else "/nowhere")
    assert pie("new", "demo").out.splitlines()[-1] == f"test it:  {typed} -m pytest demo"


def test_without_pytest_it_is_said_how_to_have_it(pie, interpreter, monkeypatch):
    monkeypatch.setenv("PATH", str(interpreter.parent))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert pie("new", "demo").out.splitlines()[-1] == "          after python -m pip install pytest"


def test_it_is_written_into_a_directory_of_its_name(pie, tmp_path, monkeypatch, interpreter):
    monkeypatch.setenv("PATH", str(interpreter.parent))
    ended = pie("new", "demo")
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "demo/Pie.toml",
        "demo/main.py",
        "demo/tests/test_main.py",
        "demo/.vscode/launch.json",
        "",
        "run it:   pie run ./demo",
        "test it:  python -m pytest demo",
    ]
    assert sorted(p.name for p in (tmp_path / "demo").rglob("*") if p.is_file()) == [
        "Pie.toml",
        "launch.json",
        "main.py",
        "test_main.py",
    ]


def test_what_was_written_is_json_when_asked(pie, tmp_path):
    written = parsed("new", pie("new", "demo", "--json", "-o", tmp_path / "x").out)
    assert written["files"] == ["Pie.toml", "main.py", "tests/test_main.py", ".vscode/launch.json"]


def test_an_editor_runs_it_and_attaches_to_it(pie, tmp_path):
    pie("new", "demo", "-o", tmp_path / "x")
    launch = json.loads((tmp_path / "x/.vscode/launch.json").read_text())
    run, attach = launch["configurations"]
    assert (run["module"], run["args"]) == ("pie_mlx", ["run", "--inline", "${workspaceFolder}"])
    assert run["subProcess"] is False  # it would wait in processes of the engine that no debugger attaches to
    assert (attach["request"], attach["connect"]) == ("attach", {"host": "127.0.0.1", "port": 5678})


def test_nothing_is_overwritten(pie, tmp_path):
    (tmp_path / "mine.txt").write_text("")
    ended = pie("new", "demo", "-o", tmp_path)
    assert (ended.code, [p.name for p in tmp_path.iterdir()]) == (1, ["mine.txt"])
    assert "not empty" in ended.err


@pytest.mark.parametrize(("option", "main"), [("--ts", "main.ts"), ("-t", "main.ts"), ("--js", "main.js")])
def test_a_new_program_in_another_language_holds_and_knows_where_its_types_are(pie, tmp_path, option, main):
    folder = tmp_path / "my-prog"
    assert pie("new", "my-prog", "-o", folder, option).out.endswith(f"run it:   pie run {folder}\n")
    assert pie("check", folder).out.startswith("my-prog@0.1.0\n  ok: ")
    assert json.loads((folder / "package.json").read_text())["main"] == main
    (config,) = folder.glob("*config.json")
    (types,) = json.loads(config.read_text())["compilerOptions"]["paths"]["inferlet"]
    assert Path(types).is_file()


def test_a_new_program_in_typescript_runs(pie, tmp_path):
    pie("new", "my-prog", "-o", tmp_path / "x", "--ts")
    ended = pie("run", tmp_path / "x", "--model", "pie-tiny", "--one-shot", "--", "--max-tokens", "3")
    assert (ended.code, "tokens" in ended.out) == (0, True), ended.err


@pytest.mark.parametrize(
    "words", [["a b"], ["../x"], ["demo", "--ts", "--template", "json"], ["demo", "--template", "x"], []]
)
def test_a_wrong_command_line_writes_nothing(pie, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    assert pie("new", *words).code == 2
    assert list(tmp_path.iterdir()) == []
