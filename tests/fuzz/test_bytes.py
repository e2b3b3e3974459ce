"""Any bytes at all, and bytes that were something once."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx import calls
from pie_mlx.runtime.worker.frames.messages import Output, Request, pack
from tests.fuzz.targets import TARGETS, package
from tests.fuzz.values import nested
from tests.runtime.store.programs import MAIN, archive, manifest

SEEDS = {
    "client_frame": msgspec.msgpack.encode({"type": "query", "corr_id": 1, "subject": "processes", "record": "{}"}),
    "worker_stream": pack(Request(1, calls.Forward(3, tokens=[5]))) + pack(Output("stdout", "x")),
    "worker_frame": pack(Request(1, calls.Forward(3, tokens=[5])))[4:],
    "manifest": b'[package]\nname = "demo"\nversion = "1.0.0"\n[parameters]\na = {type = "int", min = 1}\n',
    "package": archive(("main.py", MAIN), ("Pie.toml", manifest()), ("a/b.txt", bytes(300))),
    "chat_body": b'{"model": "m", "messages": [{"role": "user", "content": "x"}], "n": 1, "seed": 5}',
    "completion_body": b'{"model": "m", "prompt": [1, 2], "max_tokens": 3, "stop": ["a"]}',
    "response_body": b'{"model": "m", "input": [{"role": "user", "content": "x"}], "metadata": {}}',
    "proxy_head": b"GET http://example.com:81/a?b HTTP/1.1\r\nHost: other\r\nConnection: x\r\n\r\n",
}
"""One that is right for each reader."""

EDITS = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 8), st.binary(max_size=8)), max_size=6)


def edited(seed, edits):
    """The seed with pieces cut out and others put in."""
    data = bytearray(seed)
    for place, cut, put in edits:
        start = place % (len(data) + 1)
        data[start : start + cut] = put
    return bytes(data)


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.data())
def test_bytes_are_read_or_refused(name, data):
    seed = SEEDS[name]
    TARGETS[name](data.draw(st.binary(max_size=200) | EDITS.map(lambda edits: edited(seed, edits))))


@pytest.mark.parametrize("name", ["client_frame", "worker_frame"])
@given(value=nested())
def test_msgpack_of_any_depth_is_read_or_refused(name, value):
    TARGETS[name](msgspec.msgpack.encode({"type": "ping", "corr_id": 1, "more": value}))
    TARGETS[name](msgspec.msgpack.encode(["request", 1, {"call": "describe_runtime", "more": value}]))


@pytest.mark.parametrize("name", ["chat_body", "completion_body", "response_body"])
@given(value=nested())
def test_json_of_any_depth_is_read_or_refused(name, value):
    for field in ("messages", "input", "prompt", "tools", "metadata", "more"):
        TARGETS[name](msgspec.json.encode({"model": "m", field: value}))


@given(edits=EDITS, method=st.sampled_from([0, 8]))
def test_a_damaged_package_is_read_or_refused(edits, method):
    package(edited(archive(("main.py", MAIN), ("Pie.toml", manifest()), compression=method), edits))


@given(st.sets(st.text("aA/.\\é\r", min_size=1, max_size=6)))
def test_a_package_of_names_that_meet_is_read_or_refused(names):
    package(archive(*((name, b"") for name in names)))
