from pathlib import Path

import msgspec
import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.event_log import HEADER, EventWriter, read_events
from pie_mlx.events import AccountMovement, ClockRead, ContextCreated, MarketSettled, PassCompleted, ProcessLaunched

EVENTS = (
    ProcessLaunched("p", "ada", "chat@1.0.0"),
    ContextCreated("p", 1, account=4),
    PassCompleted("p", 1, 0, 12, 1, bid=0.5),
    MarketSettled(3, 0.25, (AccountMovement(4, 1.0, 0.0, 0.5, 9.0),)),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with EventWriter(tmp_path / "run.events") as log:
        for event in EVENTS:
            log.write(event)
    return tmp_path / "run.events"


def frame(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


def test_what_is_written_is_read(path: Path) -> None:
    log = read_events(path)
    assert (log.events, log.unknown, log.torn_bytes) == (EVENTS, 0, 0)


def test_a_log_with_a_clock_says_when_its_events_came(tmp_path: Path) -> None:
    times = iter((7.0, 7.0005, 9.0, 9.0))
    with EventWriter(tmp_path / "run.events", lambda: next(times)) as log:
        for event in EVENTS:
            log.write(event)
    one, two, three, four = EVENTS
    assert read_events(tmp_path / "run.events").events == (ClockRead(7.0), one, two, ClockRead(9.0), three, four)


def test_an_earlier_log_stays_until_the_first_event(path: Path) -> None:
    with EventWriter(path):
        pass
    assert read_events(path).events == EVENTS
    with EventWriter(path) as log:
        log.write(EVENTS[0])
        log.write(EVENTS[1])
    assert read_events(path).events == EVENTS[:2]


def test_a_log_without_events_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "run.events").touch()
    with EventWriter(tmp_path / "run.events"):
        pass
    assert read_events(tmp_path / "run.events").events == ()


def test_a_file_that_is_no_log_is_not_overwritten(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("pie")
    with pytest.raises(InvalidArgumentError, match="is no event log"):
        EventWriter(precious)
    assert precious.read_text() == "pie"


def test_nobody_writes_the_log_of_another(path: Path) -> None:
    with EventWriter(path) as log:
        with pytest.raises(InvalidArgumentError, match="another engine writes it"):
            EventWriter(path)
        log.write(EVENTS[0])
    assert read_events(path).events == EVENTS[:1]


def test_a_log_may_go_where_nothing_is_kept() -> None:
    with EventWriter("/dev/null") as log:
        log.write(EVENTS[0])


def test_a_log_cut_anywhere_gives_its_whole_frames_and_tells_what_is_torn(path: Path) -> None:
    data = path.read_bytes()
    for size in range(len(HEADER), len(data)):
        path.write_bytes(data[:size])
        log = read_events(path)
        assert log.events == EVENTS[: len(log.events)]
        assert len(log.events) < len(EVENTS)
        whole = len(HEADER) + sum(4 + len(msgspec.msgpack.encode(event)) for event in log.events)
        assert log.torn_bytes == size - whole


def test_events_of_unknown_kinds_are_counted_and_left_out(path: Path) -> None:
    with path.open("ab") as file:
        file.write(frame(msgspec.msgpack.encode({"kind": "from_the_future", "x": 1})))
        file.write(frame(msgspec.msgpack.encode(EVENTS[0])))
    log = read_events(path)
    assert (log.events, log.unknown) == ((*EVENTS, EVENTS[0]), 1)


def test_fields_of_the_future_are_ignored_and_those_of_the_past_have_defaults(path: Path) -> None:
    old = {"kind": "context_created", "process": "p", "context": 7, "colour": "red"}
    path.write_bytes(HEADER + frame(msgspec.msgpack.encode(old)))
    assert read_events(path).events == (ContextCreated("p", 7),)


@pytest.mark.parametrize("content", [b"", b"\xc1", msgspec.msgpack.encode({"kind": "context_created"}), b"\x01"])
def test_a_damaged_frame_is_an_error_that_says_where(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        at = file.tell()
        file.write(frame(content))
    with pytest.raises(InvalidArgumentError, match=f"byte {at} is damaged"):
        read_events(path)


@pytest.mark.parametrize("content", [b"", b"pie", b"PK\x03\x04 and more than a header", b"pie events soon\n"])
def test_another_file_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(InvalidArgumentError, match="not an event log"):
        read_events(path)


def test_a_newer_version_is_refused(path: Path) -> None:
    path.write_bytes(b"pie events 9999\n")
    with pytest.raises(InvalidArgumentError, match="version 9999"):
        read_events(path)
