"""The programs of the guide run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "guide" / "adapters.md"
TEXT = GUIDE.read_text()
USING, TUNING = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def output_of(program: str, capsys: pytest.CaptureFixture[str]) -> str:
    exec(compile(program, GUIDE.name, "exec"), {"__name__": "guide"})
    return capsys.readouterr().out


def test_the_program_with_an_adapter_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    plain, kind = output_of(USING, capsys).split(" / ")
    assert kind.startswith("Thank you for asking.")
    assert not plain.startswith("Thank you")


def test_the_program_that_tunes_gets_better(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = map(float, re.findall(r"-?\d+\.\d+", output_of(TUNING, capsys)))
    assert after > before


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", TEXT))
def test_its_links_lead_somewhere(link: str) -> None:
    assert (GUIDE.parent / link).exists()
