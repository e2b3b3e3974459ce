"""What README says is true."""

import re
from pathlib import Path

import pytest

from pie_mlx.runtime.program.program import check_source

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PROGRAM, *SCRIPTS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)

pytestmark = pytest.mark.timeout(180)


@pytest.mark.parametrize("target", ["demo", "test"])
def test_its_commands_are_targets_of_the_makefile(target):
    assert f"\n    make {target}\n" in README
    assert f"\n{target}: " in (ROOT / "Makefile").read_text()


def test_its_program_is_the_hello_example_in_short():
    check_source(PROGRAM, Path("README.md"), "main")
    hello = (ROOT / "examples/hello/main.py").read_text()
    untyped = hello.replace(": dict[str, Any]) -> None", ")")
    assert [line for line in PROGRAM.splitlines() if "max_tokens" not in line and line not in untyped] == []


@pytest.mark.parametrize("script", SCRIPTS)
def test_its_scripts_run(script, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    exec(compile(script, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out != ""
