"""The pictures of faults are small, need nothing from the web, and show what the page quotes."""

import re
from html import unescape

import pytest

from tests.docs.pages import ROOT
from tools.fault_pictures import FAULTS, FOLDER, terminal

PAGE = (ROOT / "docs" / "jobs" / "find-a-fault.md").read_text(encoding="utf-8")
SHOWN = {
    "fault-swarm": ["KeyError: 'worker: input has: number, topic, max_tokens'", "ChildFailedError"],
    "fault-tool": ["Observation: KeyError: 'get-time'", "answers"],
    "fault-slow": ["0 cached", "prefill"],
}


def text_of(svg):
    return "\n".join(unescape(text).replace("\xa0", " ") for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg))


@pytest.mark.parametrize("name", FAULTS)
def test_a_picture_is_on_its_page_and_shows_its_fault(name):
    picture = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert f"images/{name}.svg" in PAGE
    assert len(picture) < 30_000
    assert "@font-face" not in picture
    for words in SHOWN[name]:
        assert words in text_of(picture)


def test_a_terminal_tells_what_was_typed_from_what_was_printed():
    svg = terminal("t", "$ pie run a.py\nKeyError: 'x'\n")
    typed, printed = re.findall(r'<text class="([^"]+)"[^>]*>(?:\$|KeyError)', svg)
    assert typed != printed
