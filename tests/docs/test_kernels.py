"""docs/kernels.md describes every kernel there is."""

import re

from tests.docs.pages import ROOT


def test_the_page_describes_every_kernel_and_no_other():
    text = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8").split("\n## The kernels\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    described = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    files = (ROOT / "pie_mlx" / "metal" / "kernels").glob("*.metal")
    assert described == {file.stem for file in files if "\n// body\n" in file.read_text(encoding="utf-8")}
