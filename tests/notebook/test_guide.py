"""The cells of docs/guide/notebooks.md run, in order."""

import re

from tests.docs.pages import ROOT

CELLS = re.findall(r"^```\n(.*?)^```", (ROOT / "docs/guide/notebooks.md").read_text(encoding="utf-8"), re.M | re.S)


def test_every_cell_of_the_guide_runs(cells):
    values = [cells.run(cell) for cell in CELLS if "%load_ext" not in cell]
    assert len(values) == 5
    assert "Context" in repr(values[1])
    assert "pie-tiny" in repr(values[-1])
