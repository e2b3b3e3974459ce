"""Who holds the pages of the pool."""

from pie_mlx.tui.model.views.pool import OTHERS, held_pages
from tests.tui.stream import CREATED, FORKED, LAUNCHED, STARTED, after, computed, counted


def test_pages_are_those_of_each_context_then_those_between_its_contexts_then_of_others():
    state = after(STARTED, LAUNCHED, CREATED, FORKED, computed(), counted((1, 2, 3), (2, 1, 3), own=6, used=8))
    held = held_pages(state)
    assert [(each.owner, each.holders, each.pages, each.shared) for each in held] == [
        ("chat p", "#1", 2, False),
        ("chat p", "#2 forked from #1", 1, False),
        ("chat p", "#1 #2", 3, True),
        (OTHERS, "", 2, True),
    ]
    assert sum(each.pages for each in held) == state.pages.used


def test_a_line_says_whose_pages_they_are_since_when_and_when_they_were_used():
    state = after(STARTED, LAUNCHED, CREATED, computed(), counted((1, 2, 0), own=2, used=2))
    (held,) = held_pages(state)
    assert held.described(state.seconds + 8) == "chat p, #1, 2 pages, since 10s, last used 9s ago"
