"""Rules are cited by their codes, and every code leads to a rule."""

import re

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, name
from tests.docs.prose import prose_of

RULES = ROOT / "docs" / "reference" / "semantics.md"
KNOWN = {anchor.upper() for anchor in anchors(RULES)}
SOURCES = sorted(
    file for folder in ("inferlet", "pie_mlx", "tests", "benchmarks") for file in (ROOT / folder).rglob("*.py")
)
PUBLIC = ("sdk.md", "blocking.md", "hosts.md", "http.md", "cli.md", "config.md", "architectures.md", "limits.md")

_CODE = re.compile(r"\b[A-Z]\d{1,2}\b")


def codes_in(text):
    return set(_CODE.findall(text))


def test_every_rule_has_an_anchor_of_its_own_code():
    pairs = re.findall(r'<a id="([^"]+)"></a>\*\*(\w+)\*\*', RULES.read_text(encoding="utf-8"))
    assert len(pairs) > 180
    assert [pair for pair in pairs if pair[0] != pair[1].lower()] == []
    assert len(set(pairs)) == len(pairs)


def test_every_code_in_a_comment_or_docstring_is_a_rule():
    sources = {file: file.read_text(encoding="utf-8") for file in SOURCES}
    cited = {
        f"{name(file)}:{line}: {code}"
        for file, source in sources.items()
        if codes_in(source) - KNOWN
        for line, text in prose_of(source)
        for code in codes_in(text) - KNOWN
    }
    assert sorted(cited) == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_code_on_a_page_is_a_rule(page):
    assert sorted(codes_in(page.read_text(encoding="utf-8")) - KNOWN) == []


@pytest.mark.parametrize("page", PUBLIC)
def test_the_reference_speaks_without_codes(page):
    assert sorted(codes_in((RULES.parent / page).read_text(encoding="utf-8"))) == []
