"""The glossary has terms that are used, each once and where one looks for it."""

import re

import pytest

from tests.docs.pages import PAGES, ROOT, name

GLOSSARY = ROOT / "docs" / "glossary.md"
ROWS = [line.strip("| ").split(" | ") for line in GLOSSARY.read_text(encoding="utf-8").splitlines()[6:] if line]
TERMS = [row[0] for row in ROWS]
USED = "\n".join(
    file.read_text(encoding="utf-8")
    for file in [*(page for page in PAGES if page != GLOSSARY), *sorted((ROOT / "pie_mlx").rglob("*.py"))]
)


def test_terms_are_in_alphabetical_order():
    assert sorted(TERMS, key=str.lower) == TERMS


def test_a_term_has_one_line_and_three_other_names():
    assert [row for row in ROWS if len(row) != 5] == []


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used_in_the_code_or_on_another_page(term):
    words = r"[ _\-]?".join(map(re.escape, re.split(r"[ \-/]", term)))
    assert re.search(rf"(?<![a-z]){words}", USED, re.IGNORECASE), f"{term}: not used outside of {name(GLOSSARY)}"
