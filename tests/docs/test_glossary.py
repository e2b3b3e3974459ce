"""The glossary has terms that are used, each once and where one looks for it."""

import re

import pytest

from tests.docs.pages import PAGES, ROOT, name

GLOSSARY = ROOT / "docs" / "glossary.md"
ROWS = [line.strip("| ").split(" | ") for line in GLOSSARY.read_text(encoding="utf-8").splitlines()[6:] if line]
TERMS = [row[0] for row in ROWS]
COMING = {
    "accounting": "Bank",
    "in-flight prefixes": "Underway",
    "snapshot store": "SnapshotShelf",
}
"""Terms under which the code is about to be renamed, with the classes that they stand for until then."""
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
    used = re.search(rf"(?<![a-z]){words}", USED, re.IGNORECASE)
    coming = term in COMING and re.search(rf"\bclass {COMING[term]}\b", USED)
    assert used or coming, f"{term}: not used outside of {name(GLOSSARY)}"
