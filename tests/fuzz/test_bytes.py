"""Any bytes at all, and bytes that were something once."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx import calls
from pie_mlx.runtime.worker.frames.messages import CallFrame, Output, pack
from tests.fuzz.targets import TARGETS, package
from tests.fuzz.values import nested
from tests.runtime.store.programs import MAIN, archive, manifest

SEEDS = {
    "client_frame": msgspec.msgpack.encode({"type": "query", "corr_id": 1, "subject": "processes", "record": "{}"}),
    "worker_stream": pack(CallFrame(1, calls.Forward(3, tokens=[5]))) + pack(Output("stdout", "x")),
    "worker_frame": pack(CallFrame(1, calls.Forward(3, tokens=[5])))[4:],
    "manifest": b'[package]\nname = "demo"\nversion = "1.0.0"\n[parameters]\na = {type = "int", min = 1}\n',
    "package": archive(("main.py", MAIN), ("Pie.toml", manifest()), ("a/b.txt", bytes(300))),
    "chat_body": b'{"model": "m", "messages": [{"role": "user", "content": "x"}], "n": 1, "seed": 5}',
    "completion_body": b'{"model": "m", "prompt": [1, 2], "max_tokens": 3, "stop": ["a"]}',
    "response_body": b"""{"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}],
        "include": ["a"], "tools": [{"type": "web_search", "name": "b"}], "tool_choice": "auto", "metadata": {},
        "reasoning": {"summary": "auto"}, "text": {"verbosity": "low"}}""",
    "message_body": b"""{"model": "m", "max_tokens": 5, "system": [{"type": "text", "text": "x"}],
        "tools": [{"type": "bash", "name": "b"}], "tool_choice": {"type": "auto"},
        "thinking": {"type": "enabled", "budget_tokens": 5},
        "context_management": {"edits": [{"type": "clear_thinking_1"}]}, "output_config": {"effort": "low"},
        "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": []}]}]}""",
    "ollama_chat_body": b"""{"model": "m", "options": {"num_ctx": 5, "seed": 1, "mirostat": 0}, "format": {},
        "messages": [{"role": "tool", "content": "x", "tool_calls": [{"function": {"name": "a", "arguments": {}}}]}],
        "think": true}""",
    "ollama_generate_body": b'{"model": "m", "prompt": "x", "options": {"stop": ["a"]}, "images": [], "context": []}',
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


BODIES = [name for name in TARGETS if name.endswith("_body")]
STRANGE = (None, True, 5, "x", [], {}, [5], [[]], {"type": []}, [{"type": {}}], [{"role": []}])


def places(value):
    """The objects and lists of a body, each with its keys."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield value, key
        yield from places(one)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("strange", STRANGE, ids=str)
def test_a_body_with_a_strange_value_at_any_place_is_read_or_refused(name, strange):
    for place in range(len([*places(json.loads(SEEDS[name]))])):
        body = json.loads(SEEDS[name])
        holder, key = [*places(body)][place]
        holder[key] = strange
        TARGETS[name](json.dumps(body).encode())


@pytest.mark.parametrize("name", BODIES)
@given(value=nested())
def test_json_of_any_depth_is_read_or_refused(name, value):
    for field in ("messages", "input", "prompt", "tools", "metadata", "system", "options", "more"):
        TARGETS[name](msgspec.json.encode({"model": "m", field: value}))


@given(edits=EDITS, method=st.sampled_from([0, 8]))
def test_a_damaged_package_is_read_or_refused(edits, method):
    package(edited(archive(("main.py", MAIN), ("Pie.toml", manifest()), compression=method), edits))


@given(st.sets(st.text("aA/.\\é\r", min_size=1, max_size=6)))
def test_a_package_of_names_that_meet_is_read_or_refused(names):
    package(archive(*((name, b"") for name in names)))
