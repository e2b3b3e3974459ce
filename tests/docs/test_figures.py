"""Figures in README say where they come from."""

import re

from tests.docs.pages import ROOT

BLOCK = re.compile(r"<!-- bench: [^\n]*-->\n(.*?)<!-- /bench -->", re.DOTALL)


def test_the_measured_table_is_what_pie_bench_prints():
    (figures,) = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    if figures.strip():
        assert re.match(r"`pie bench.*` on \d{4}-\d\d-\d\d: ", figures.lstrip())
        assert "| other | pie-mlx |" in figures
