"""What a program sends over its link."""

import json
from pathlib import Path

import msgspec
import pytest
from websockets.sync.client import connect

PROGRAMS = Path(__file__).parent / "programs" / "python"


@pytest.mark.parametrize(
    ("kind", "size", "times"),
    [
        ("lists", 20_000_000, 1),
        ("turns", 3_000_000, 1),
        ("numbers", 60_000_000, 1),
        ("nested", 5_000_000, 1),
        ("lists", 60_000, 30),
        ("turns", 30_000, 30),
        ("numbers", 500_000, 30),
        ("posted", 1_000, 20),
        ("taken back", 1_000, 20),
    ],
)
def test_no_frame_holds_up_the_engine(target, hostile, kind, size, times):
    with target.stays_healthy(growth_bytes=200 << 20):
        code, result, err = hostile("flood_frames", kind=kind, size=size, times=times)
    assert (code, result) == (0, ["pie-tiny"]), err


def test_unread_messages_of_a_user_are_bounded_in_all_programs_together(target):
    path = PROGRAMS / "hoard_messages.py"
    with target.stays_healthy(growth_bytes=400 << 20):
        words = [("run", path, "--input", json.dumps({"number": number})) for number in range(2)]
        running = [target.start(*one) for one in words]
        ended = [child.communicate() for child in running]
    assert [child.returncode for child in running] == [0, 0], ended
    assert sum(int(out.splitlines()[-1]) for out, _ in ended) > 0


def ask(socket, **frame):
    socket.send(msgspec.msgpack.encode({"corr_id": 1, **frame}))
    answer = msgspec.msgpack.decode(socket.recv())
    return answer["ok"], answer["result"]


@pytest.mark.parametrize("value", ["[],", "1.5,", '{"a":0},'])
def test_no_input_of_a_launch_holds_up_the_engine(target, value):
    text = f'{{"a": [{value * (8_000_000 // len(value))}0]}}'
    with target.stays_healthy(growth_bytes=200 << 20), connect(target.url) as socket:
        assert ask(socket, type="auth_identify", username="eve")[0]
        ok, result = ask(socket, type="launch_process", inferlet="text-completion", input=text)
        assert (ok, result) == (False, "input: more than 262144 values")
        given = [f'{{"prompt": [{value * (7_000 // len(value))}0]}}'] * 1_000
        ok, result = ask(socket, type="launch_processes", inferlet="text-completion", inputs=given)
        assert not ok
