"""What moved pages is shown with the pages that it moved."""

from pie_mlx.events import ContextSuspended, McpServerStarted
from pie_mlx.tui.inbox import Inbox
from pie_mlx.tui.model import Record
from pie_mlx.tui.source.settling import COUNT_SECONDS, Settling
from tests.tui.stream import CREATED, LAUNCHED, STARTED, computed, counted, tick

SUSPENDED = ContextSuspended(1, 2, "outbid", "suspended: bid 0.1 < bid 0.2")


def fed(inbox, settling, *events, seconds=10.0):
    for event in events:
        settling.add(Record(seconds, event))
    return inbox.state()


class Later:
    """A loop's `call_later` that waits until the test lets it."""

    def __init__(self):
        self.waiting = []

    def __call__(self, seconds, call):
        self.waiting.append(call)
        return self

    def cancel(self):
        self.waiting.clear()

    def pass_time(self):
        self.waiting.pop()()


def began():
    inbox, later = Inbox(), Later()
    settling = Settling(inbox, later)
    fed(inbox, settling, STARTED, LAUNCHED, CREATED, computed(), tick(), counted((1, 3, 0)))
    return inbox, settling, later


def test_a_suspension_is_told_with_the_pages_that_are_left():
    inbox, settling, _ = began()
    before = fed(inbox, settling, SUSPENDED, tick(2)).contexts[1]
    assert (before.activity, before.own_pages) == ("running", 3)
    after = fed(inbox, settling, counted((1, 0, 0), used=0, own=0)).contexts[1]
    assert (after.activity, after.own_pages) == ("suspended", 0)


def test_what_moves_no_pages_is_told_at_once_unless_something_before_it_is_held():
    inbox, settling, _ = began()
    started = McpServerStarted("files", "stdio", 1)
    assert "files" in fed(inbox, settling, started).mcp
    assert fed(inbox, settling, tick(2), LAUNCHED).ticks == 1


def test_without_a_count_all_is_told_that_happened_before_the_engine_looked():
    inbox, settling, later = began()
    fed(inbox, settling, tick(2))
    fed(inbox, settling, tick(3), seconds=10.0 + 2 * COUNT_SECONDS)
    later.pass_time()
    assert inbox.state().ticks == 2
    later.pass_time()
    assert inbox.state().ticks == 3
    assert later.waiting == []
