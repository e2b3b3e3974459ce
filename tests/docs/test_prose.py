"""Prose is plain: some words make a sentence that has to be read twice."""

import re

import pytest

from tests.docs.pages import PAGES, ROOT, name
from tests.docs.prose import prose_of

AVOIDED = (
    *("whoever", "whomever", "nobody", "foretold", "is told", "are told", "was told", "what is wanted", "who goes on"),
    *("on the way", "takes it back", "in its place", "by itself", "by themselves", "there where"),
)
"""Write the subject, or the field's word: `automatically` or `alone` for `by itself`, `no program` for `nobody`."""

_AVOIDED = re.compile(rf"\b({'|'.join(AVOIDED)})\b", re.IGNORECASE)
TEXTS = sorted([*PAGES, ROOT / "CHANGELOG.md"])
PACKAGE = ROOT / "pie_mlx"
ROOMS = sorted(
    path
    for path in (*PACKAGE.iterdir(), *(PACKAGE / "engine").iterdir(), *(PACKAGE / "engine" / "model").iterdir())
    if path.suffix == ".py" or (path.is_dir() and path not in (PACKAGE / "engine", PACKAGE / "engine" / "model"))
)
"""Folders and files of the package; of the engine and its `model`, each room apart."""


def found_in(text):
    return {word.lower() for word in _AVOIDED.findall(" ".join(text.split()))}


def found_in_page(page):
    return found_in(page.read_text(encoding="utf-8"))


def found_in_room(room):
    files = sorted(room.rglob("*.py")) if room.is_dir() else [room]
    sources = {file: file.read_text(encoding="utf-8") for file in files}
    return sorted(
        f"{name(file)}:{line}: {word}"
        for file, source in sources.items()
        if found_in(source)
        for line, text in prose_of(source)
        for word in found_in(text)
    )


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_a_page_is_written_plainly(page):
    assert sorted(found_in_page(page)) == []


@pytest.mark.parametrize("room", ROOMS, ids=name)
def test_comments_and_docstrings_of_a_room_are_written_plainly(room):
    assert found_in_room(room) == []
