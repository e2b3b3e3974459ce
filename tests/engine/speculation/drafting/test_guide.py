"""The program of the guide runs."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[4] / "docs" / "guide" / "speculation.md"


def test_the_program_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    exec(compile(program, GUIDE.name, "exec"), {"__name__": "guide"})
    tokens, passes = map(int, re.findall(r"\d+", capsys.readouterr().out))
    assert passes < tokens / 2
