from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.events import ProcessFile, ProcessMessage, ProcessOutput, ProcessReturned
from pie_mlx.runtime.registry import KeptEvents, KeptLimits
from pie_mlx.runtime.registry.kept_events import KeptTotal

LIMITS = KeptLimits(events=5, text_bytes=20, file_bytes=30)
TEXTS = st.text(max_size=12)
EVENTS = st.one_of(
    TEXTS.map(lambda text: (ProcessMessage("p", text), b"")),
    TEXTS.map(lambda text: (ProcessOutput("p", "stdout", text), b"")),
    st.binary(max_size=20).map(lambda data: (ProcessFile("p", "f", len(data)), data)),
)
LAST = (ProcessReturned("p", "a value longer than all that may be kept"), b"")


@given(st.lists(EVENTS, max_size=30))
def test_the_newest_are_kept_in_order_within_the_limits(events):
    kept = KeptEvents(LIMITS)
    for event, data in events:
        kept.keep(event, data)
        kept.check_integrity()
        assert len(kept) <= LIMITS.events
    dropped = kept.dropped
    taken = kept.drain("p")
    notice = [taken.pop(0)] if dropped else []
    assert taken == events[dropped:]
    assert [item.text for item, _ in notice] == ([f"[pie] {dropped} earlier events were dropped\n"] if dropped else [])
    assert sum(len(data) for _, data in taken) <= LIMITS.file_bytes


@given(st.lists(EVENTS, max_size=10))
def test_the_last_event_is_never_dropped(events):
    kept = KeptEvents(KeptLimits(events=0, text_bytes=0, file_bytes=0))
    for event, data in [*events, LAST]:
        kept.keep(event, data)
    assert kept.drain("p")[-1] == LAST


def test_what_was_taken_is_gone():
    kept = KeptEvents(LIMITS)
    kept.keep(*LAST)
    assert kept.drain("p") == [LAST]
    assert kept.drain("p") == []


def printed(total, text, *, over):
    kept = KeptEvents(total=total)
    kept.keep(ProcessOutput("p", "stdout", text), b"")
    if over:
        kept.keep(ProcessReturned("p", "end"), b"")
        kept.end()
    return kept


def test_the_processes_that_were_over_first_make_room_for_the_others():
    total = KeptTotal(limit_bytes=35)
    runs = printed(total, "r" * 10, over=False)
    first, second = printed(total, "1" * 10, over=True), printed(total, "2" * 10, over=True)
    assert [len(runs), len(first), len(second)] == [1, 1, 2]
    assert [getattr(event, "text", event.kind) for event, _ in first.drain("p")] == [
        "[pie] 1 earlier events were dropped\n",
        "process_returned",
    ]
    total.check_integrity([runs, first, second])


def test_what_runs_loses_nothing_to_others():
    total = KeptTotal(limit_bytes=5)
    kept = [printed(total, "x" * 10, over=False) for _ in range(3)]
    assert [len(each) for each in kept] == [1, 1, 1]


def test_what_is_kept_of_a_process_after_its_end_makes_room_too():
    total = KeptTotal(limit_bytes=5)
    kept = printed(total, "x" * 10, over=True)
    kept.keep(ProcessOutput("p", "stdout", "unsent"), b"")
    kept.drain("p")
    kept.keep(ProcessOutput("p", "stdout", "unsent"), b"")
    kept.end()
    assert len(kept) == 0


def test_nothing_is_kept_of_a_process_that_is_forgotten():
    total = KeptTotal()
    kept = printed(total, "x" * 10, over=True)
    kept.forget()
    kept.keep(ProcessOutput("p", "stdout", "late"), b"")
    kept.end()
    assert (len(kept), total.kept_bytes) == (0, 0)


def test_beyond_what_is_kept_of_a_user_each_process_loses_its_own_oldest():
    total = KeptTotal(user_bytes=25)
    first, second, other = (KeptEvents(total=total, username=name) for name in ("ada", "ada", "bob"))
    for kept in (first, second, other):
        for text in ("0123456789", "9876543210"):
            kept.keep(ProcessMessage("p", text), b"")
    assert [(len(kept), kept.dropped) for kept in (first, second, other)] == [(2, 0), (0, 2), (2, 0)]
    first.drain("p")
    second.keep(ProcessMessage("p", "0123456789"), b"")
    assert len(second) == 1
    total.check_integrity([first, second, other])
