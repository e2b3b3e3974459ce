import shlex

import pytest

from pie_mlx.cli.check.findings import check
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.program_input import input_from_words
from pie_mlx.runtime.program.program import find_program
from tools.gallery import GROUPS, PAGE, ROOT, Example, first_lines, page, recorded

NAMES = [name for names in GROUPS.values() for name in names]


def test_it_holds_every_example_once():
    assert sorted(NAMES) == sorted(folder.parent.name for folder in (ROOT / "examples").glob("*/Pie.toml"))


def test_it_says_what_manifests_and_docstrings_say():
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(recorded(written)), "write it again with: python -m tools.gallery"


def test_it_shows_what_every_command_prints():
    printed = recorded(PAGE.read_text(encoding="utf-8"))
    assert [name for name in NAMES if not printed[name]] == []


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_a_test(name):
    assert (ROOT / "tests" / "examples" / f"test_{name.replace('-', '_')}.py").exists()


@pytest.mark.parametrize("name", NAMES)
def test_an_example_passes_the_check(name):
    assert check(ROOT / "examples" / name, Common()).findings == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_enough(name):
    lines = (ROOT / "examples" / name / "main.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 85


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_described(name):
    parameters = find_program(ROOT / "examples" / name).manifest.parameters.declared.values()
    assert [parameter.name for parameter in parameters if not parameter.description] == []


@pytest.mark.parametrize("name", NAMES)
def test_its_command_fits_the_program(name):
    command = Example.read(name).command
    assert f" examples/{name}" in command
    parameters = find_program(ROOT / "examples" / name).manifest.parameters
    for words in map(shlex.split, command.splitlines()):
        given = words[words.index("--") + 1 :] if "--" in words else []
        assert parameters.problems(input_from_words(given, parameters)) == []


def test_long_output_is_cut():
    lines = first_lines("a|b\n\n" + "x" * 100 + "\n`c`\nd\n")
    assert lines == ["a\\|b", "x" * 71 + "…", "'c'"]
