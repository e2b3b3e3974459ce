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

NOT_YET_PLAIN = {
    "pie_mlx/metal",
    *(f"pie_mlx/engine/{room}" for room in ("kv", "model", "schedule")),
}
"""Pages and rooms with such words. It may only shrink."""

_AVOIDED = re.compile(rf"\b({'|'.join(AVOIDED)})\b", re.IGNORECASE)
TEXTS = sorted([*PAGES, ROOT / "CHANGELOG.md"])
ENGINE = ROOT / "pie_mlx" / "engine"
ROOMS = sorted(
    path
    for folder in (ENGINE.parent, ENGINE)
    for path in folder.iterdir()
    if path != ENGINE and (path.is_dir() or path.suffix == ".py")
)


def found_in(text):
    return {word.lower() for word in _AVOIDED.findall(" ".join(text.split()))}


def found_in_page(page):
    return found_in(page.read_text(encoding="utf-8"))


def found_in_room(room):
    files = sorted(room.rglob("*.py")) if room.is_dir() else [room]
    return sorted(
        f"{name(file)}:{line}: {word}"
        for file in files
        for line, text in prose_of(file.read_text(encoding="utf-8"))
        for word in found_in(text)
    )


@pytest.mark.parametrize("page", [page for page in TEXTS if name(page) not in NOT_YET_PLAIN], ids=name)
def test_a_page_is_written_plainly(page):
    assert sorted(found_in_page(page)) == []


@pytest.mark.parametrize("room", [room for room in ROOMS if name(room) not in NOT_YET_PLAIN], ids=name)
def test_comments_and_docstrings_of_a_room_are_written_plainly(room):
    assert found_in_room(room) == []


@pytest.mark.parametrize("listed", sorted(NOT_YET_PLAIN))
def test_a_page_or_room_that_became_plain_is_taken_off_the_list(listed):
    path = ROOT / listed
    assert found_in_page(path) if path.suffix == ".md" else found_in_room(path), f"{listed} is plain now"
