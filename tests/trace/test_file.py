import gzip
import json

import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.event_log import EventWriter
from pie_mlx.events import (
    ContextCreated,
    ContextForked,
    MarketSettled,
    ProcessLaunched,
    TickCompleted,
    TokensComputed,
    WaitChanged,
)
from pie_mlx.trace.file import of_tree, read_trace, write_trace


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_what_was_written_reads_back_as_the_same_events(recorded, tmp_path, name):
    write_trace(tmp_path / name, recorded)
    assert read_trace(tmp_path / name) == recorded


def test_a_trace_is_what_perfetto_opens_and_for_its_owner_alone(recorded, tmp_path):
    write_trace(tmp_path / "out.json", recorded)
    content = json.loads((tmp_path / "out.json").read_text())
    assert list(content)[:3] == ["displayTimeUnit", "traceEvents", "otherData"]
    assert (tmp_path / "out.json").stat().st_mode & 0o077 == 0


def test_a_recording_is_read_too(recorded, tmp_path):
    with EventWriter(tmp_path / "run.events") as log:
        for event in recorded.events:
            log.write(event)
    assert read_trace(tmp_path / "run.events").trace() == recorded.trace()


def test_events_of_a_newer_version_are_counted_and_left_out(tmp_path):
    content = {"pieEvents": [{"kind": "from_the_future"}, {"kind": "wait_changed", "context": 1}]}
    (tmp_path / "a.json").write_text(json.dumps(content))
    read = read_trace(tmp_path / "a.json")
    assert (read.events, read.missed) == ([WaitChanged(1)], 1)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b"\x1f\x8bno", gzip.compress(b"{}", mtime=0), b'{"traceEvents": []}', b"\xff"]
)
def test_any_other_file_is_refused(tmp_path, data):
    (tmp_path / "a.json").write_bytes(data)
    with pytest.raises(InvalidArgumentError, match="it is no trace of pie-mlx"):
        read_trace(tmp_path / "a.json")


def test_a_tree_is_a_process_with_all_that_it_launched_and_the_batches_meanwhile():
    own = [
        ProcessLaunched("root", "ada", "p"),
        ProcessLaunched("child", "ada", "p", parent="root"),
        ContextCreated("child", 1),
        WaitChanged(1, "outbid"),
        TickCompleted(1, 1, 1, 0, 0.1),
        MarketSettled(1, 0.5),
    ]
    others = [ProcessLaunched("other", "bob", "p"), ContextForked("other", 2, 9, 0), WaitChanged(2, "outbid")]
    assert of_tree([*own[:2], *others, *own[2:], TokensComputed("other", 2, 0, (1,))], "root") == own
