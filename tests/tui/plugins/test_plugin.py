"""The user's file of commands: what is wrong with a table is one line, and the others count."""

from pathlib import Path
from textwrap import dedent

import pytest

from pie_mlx.tui.actions import TABLES
from pie_mlx.tui.keymap import Keymap
from pie_mlx.tui.plugins.plugin import read_plugins


@pytest.fixture
def read(tmp_path):
    def read(text, **keys):
        (tmp_path / "plugins.toml").write_text(text)
        found = read_plugins(tmp_path / "plugins.toml", Keymap(keys))
        return found, [problem.removeprefix(f"{tmp_path}/plugins.toml: ") for problem in found.problems]

    return read


def test_a_table_is_a_command_on_a_key_of_its_screens(read):
    found, problems = read('[tail]\nkey = "W"\ncommand = ["pie", "logs", "{id}"]\nscreens = ["market"]\n')
    (tail,) = found.all
    assert problems == []
    assert (tail.name, tail.key, tail.fields, tail.action.help) == ("tail", "W", ["id"], "tail")
    assert (found.at("W", "market"), found.at("W", "pages"), found.at("U", "market")) == (tail, None, None)


def test_a_key_is_written_as_its_sign_or_its_name(read):
    found, problems = read('[a]\nkey = "!"\nshell = "ls"\n[b]\nkey = "ctrl+t"\nshell = "ls"\n')
    assert ([plugin.key for plugin in found.all], problems) == (["exclamation_mark", "ctrl+t"], [])
    assert found.all[0].screens == TABLES


def test_one_key_may_mean_two_things_on_two_screens(read):
    found, problems = read(
        '[a]\nkey = "W"\nshell = "ls"\nscreens = ["market"]\n[b]\nkey = "W"\nshell = "ls"\nscreens = ["pages"]\n'
    )
    assert (found.at("W", "market").name, found.at("W", "pages").name, problems) == ("a", "b", [])


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('key = "t"\nshell = "ls"', "the key 't' is that of 'theme'"),
        ('key = "k"\nshell = "ls"', "the key 'k' is that of 'kill'"),
        ('key = "/"\nshell = "ls"', "the key 'slash' is that of 'filter'"),
        ('key = "X"\nshell = "ls"', "the key 'X' is that of 'bid'"),
        ('key = "W"\nshell = "ls"', "the key 'W' is that of 'first'"),
        ('key = "enter"\nshell = "ls"\nscreens = ["logs"]', "the key 'enter' moves in tables and dialogs"),
        ('key = ""\nshell = "ls"', 'write one key in quotes, e.g. "T" or "ctrl+t", not \'\''),
        ('key = "U,V"\nshell = "ls"', 'write one key in quotes, e.g. "T" or "ctrl+t", not \'U,V\''),
        ('key = "U"', "give either a command, a list of words, or a line for the shell"),
        (
            'key = "U"\nshell = "ls"\ncommand = ["ls"]',
            "give either a command, a list of words, or a line for the shell",
        ),
        ('key = "U"\nshell = "ls"\nscreens = ["moon"]', "there is no screen 'moon'; known: overview"),
        ('key = "U"\ncommand = ["{program}"]', "the program itself cannot come from a row"),
        ('key = "U"\ncommand = ["awk", "{print $1}"]', "a field is written {id}, and a brace of the command's own"),
        ('key = "U"\ncommand = ["ls", "{"]', "a field is written {id}, and a brace of the command's own"),
        ('key = "U"\nshell = "ls"\nin_browser = true', "a browser has no terminal"),
        ('key = "U"\nshell = 3', "Expected `str`, got `int` - at `$.shell`"),
        ('key = "U"\nshel = "ls"', "Object contains unknown field `shel`"),
        ('shell = "ls"', "Object missing required field `key`"),
    ],
)
def test_what_is_wrong_with_a_table_is_one_line_and_the_others_count(read, table, problem):
    first = '[first]\nkey = "W"\nshell = "ls"\n'
    found, problems = read(f"{first}[second]\n{table}\n", bid="X")
    assert [plugin.name for plugin in found.all] == ["first"]
    (told,) = problems
    assert told.startswith(f"second: {problem}")


@pytest.mark.parametrize("text", ["[tail", 'tail = "pie logs"'])
def test_a_file_that_holds_no_tables_is_one_line_too(read, text):
    found, problems = read(text)
    assert (found.all, len(problems)) == ([], 1)


def test_the_commands_of_the_documentation_are_right(read):
    text = (Path(__file__).parents[3] / "docs" / "monitor.md").read_text(encoding="utf-8")
    written = text.partition("a table for each:\n")[2].partition("\nA command is")[0]
    found, problems = read(dedent(written))
    assert ([plugin.name for plugin in found.all], problems) == (["tail", "archive"], [])
