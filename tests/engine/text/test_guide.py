"""The programs of the guide run."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.engine.running import Running

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "text.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.mark.parametrize("source", PROGRAMS, ids=range(len(PROGRAMS)))
async def test_a_program_of_the_guide_runs(engine: Running, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inferlet.runtime.models", lambda: [engine.model.name])
    program: dict[str, Any] = {"__name__": "guide"}
    exec(source.replace("from inferlet import", "from inferlet import"), program)
    assert await program["main"]({}) is not None
