"""The programs of docs/guide/typescript.md run, and so does that of the reference."""

import pytest

from tests.docs.pages import ROOT, blocks_in

BLOCKS = [
    block
    for page in ("docs/guide/typescript.md", "docs/reference/javascript.md")
    for block in blocks_in("typescript", ROOT / page)
]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_program_of_the_guide_runs(block, stage, tmp_path):
    (tmp_path / "main.ts").write_text(block.code, encoding="utf-8")
    assert stage.play(tmp_path / "main.ts", {"prompt": "What can you do?"}).result
