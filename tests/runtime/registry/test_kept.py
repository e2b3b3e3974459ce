from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.events import ProcessFile, ProcessMessage, ProcessOutput, ProcessReturned
from pie_mlx.runtime.registry import KeptEvents, KeptLimits

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
        kept.add(event, data)
        kept.check_integrity()
        assert len(kept) <= LIMITS.events
    dropped = kept.dropped
    taken = kept.take("p")
    notice = [taken.pop(0)] if dropped else []
    assert taken == events[dropped:]
    assert [item.text for item, _ in notice] == ([f"[pie] {dropped} earlier events were dropped\n"] if dropped else [])
    assert sum(len(data) for _, data in taken) <= LIMITS.file_bytes


@given(st.lists(EVENTS, max_size=10))
def test_the_last_event_is_never_dropped(events):
    kept = KeptEvents(KeptLimits(events=0, text_bytes=0, file_bytes=0))
    for event, data in [*events, LAST]:
        kept.add(event, data)
    assert kept.take("p")[-1] == LAST


def test_what_was_taken_is_gone():
    kept = KeptEvents(LIMITS)
    kept.add(*LAST)
    assert kept.take("p") == [LAST]
    assert kept.take("p") == []
