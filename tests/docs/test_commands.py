"""The command lines of README and docs are understood as printed."""

import re
import shlex
from pathlib import Path

import click
import pytest

from pie_mlx.cli.main import execute, pie
from tests.docs.pages import PAGES, ROOT, command_lines

LINES = sorted({line for page in PAGES for line in command_lines(page)})
VARIABLES = {"PIE_METAL", "PIE_URL", "PIE_USER", "PIE_KEY", "PIE_TOKEN"}
QUICK = ["pie check examples/hello", "pie config show", "pie model list", "pie list", "pie version"]


def words_of(line):
    """A line without what a shell reads: variables before it, and after it comments, `&`, files."""
    line = re.split(r"\s{2,}|\s#\s|\s[<>]\s|\s&$", line)[0]
    words = shlex.split(line)
    while "=" in words[0]:
        variable = words.pop(0).partition("=")[0]
        assert variable in VARIABLES or variable.count("__") >= 1, variable
    return words


def commands_starting_with(first):
    return [line for line in LINES if words_of(line)[:1] == [first]]


def parsed(arguments):
    """Understand a line without running it. Raises click.UsageError."""
    command, context = pie, click.Context(pie, info_name="pie")
    while isinstance(command, click.Group):
        with_rest = command.make_context(context.info_name, list(arguments), parent=None if command is pie else context)
        _, rest, _ = command.make_parser(with_rest).parse_args(list(arguments))
        if not rest:
            return
        name, inner, arguments = command.resolve_command(with_rest, rest)
        command, context = inner, click.Context(inner, info_name=name, parent=with_rest)
    if "[" not in " ".join(arguments):  # a synopsis of a reference page
        command.make_context(command.name, list(arguments), parent=context.parent)


@pytest.mark.parametrize("line", commands_starting_with("pie"))
def test_pie_understands_it(line):
    if "..." not in line and not line.startswith("pie completion"):
        parsed(words_of(line)[1:])


@pytest.mark.parametrize("line", commands_starting_with("pie"))
def test_files_of_the_repository_that_it_names_exist(line):
    named = [word for word in words_of(line) if word.startswith(("examples/", "docs/", "tests/"))]
    assert [word for word in named if not (ROOT / word).exists()] == []


@pytest.mark.parametrize("line", commands_starting_with("make"))
def test_make_knows_it(line):
    assert f"\n{words_of(line)[1]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("line", commands_starting_with("python"))
def test_python_finds_it(line):
    words = words_of(line)
    target = words[2] if words[1] == "-m" else words[1]
    path = target if words[1] != "-m" else f"{target.replace('.', '/')}.py"
    assert target == "pytest" or (ROOT / path).exists() or (ROOT / Path(path).with_suffix("") / "__main__.py").exists()


@pytest.mark.parametrize("line", QUICK)
def test_it_works_as_printed(line, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.chdir(ROOT)
    assert execute(shlex.split(line)[1:]) == 0
    assert "".join(capsys.readouterr())
