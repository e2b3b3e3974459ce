"""What one frame of a worker may hold is bounded before any of it is decoded."""

import struct
import tracemalloc
from pathlib import Path

import msgspec
import pytest

from pie_mlx import calls
from pie_mlx.errors import InvalidArgumentError, ProtocolError
from pie_mlx.runtime.worker.frames.messages import (
    CallFrame,
    CancelCall,
    Ended,
    InvalidCall,
    Output,
    Pong,
    WireError,
    pack,
)
from pie_mlx.runtime.worker.frames.reader import READ_BYTES, LongFrame, WorkerFrames
from pie_mlx.runtime.worker.frames.size_budgets import BUDGETS, USUAL

TURN = calls.Turn("user", "And then?", calls=[calls.ParsedToolCall("look", "{}")])


def taken(*parts, step=READ_BYTES):
    """The frames in what was sent, decoded."""
    reader, frames = WorkerFrames(), []
    data = b"".join(parts)
    for start in range(0, len(data), step):
        reader.feed(data[start : start + step])
        while (frame := reader.next_frame()) is not None:
            frames.append(frame.decode() if isinstance(frame, LongFrame) else frame)
    return frames


def framed(payload):
    return struct.pack("<I", len(payload)) + payload


def many(count, one):
    return struct.pack(">BI", 0xDD, count) + one * count


def forward(**fields):
    """A request whose fields are msgpack already."""
    begin = msgspec.msgpack.encode(["request", 7, {"call": "forward", "context": 1}])
    head = begin[: begin.index(b"\x82\xa4call")] + bytes([0x82 + len(fields)]) + begin[begin.index(b"\xa4call") :]
    return framed(head + b"".join(msgspec.msgpack.encode(name) + value for name, value in fields.items()))


@pytest.mark.parametrize(
    "call",
    [
        calls.Forward(1, pending=[150_000] * 262_144),
        calls.Forward(1, [5] * 4_000, attention_masks=[[0, 4_000, 7]] * 4_000),
        calls.Forward(1, [5] * 8_000, slots=[calls.Slot(index, calls.Logprob(9)) for index in range(8_000)]),
        calls.Forward(1, [5], slots=[calls.Slot(0, calls.Logprobs(list(range(152_000))))]),
        calls.Forward(1, [5], logit_mask=[1] * 152_000),
        calls.Decode("m", [150_000] * 262_144),
        calls.RenderTurn("m", TURN, calls.ChatState(turns=[TURN] * 8_000)),
        calls.SaveSnapshot(1, calls.PendingInput([150_000] * 131_072, calls.ChatState(turns=[TURN] * 4_000))),
        calls.CompileGrammar("m", calls.GrammarSource("json_schema", "x" * 800_000), [5] * 1_000),
        calls.ParseToolCall("m", "x" * 1_000_000, ["{}" * 1_000] * 500),
        calls.Encode("m", "ä" * 3_000_000),
        calls.LaunchChild("p", "x" * (8 << 20)),
        calls.SendMessage("x" * 1_000_000),
        calls.Push("t", "x" * 1_000_000),
        calls.UpdateEvolution(1, [0.5] * 10_000, list(range(10_000)), 1.0),
        calls.SendFile(bytes(64 << 20), "weights.bin"),
        calls.WriteHttpBody(bytes(8 << 20)),
        calls.LoadAdapter(1, "{}" * 4_000, 1 << 30, 0, bytes(8 << 20)),
    ],
    ids=lambda call: type(call).__name__,
)
def test_lists_texts_and_files_of_honest_size_arrive(call):
    assert taken(pack(CallFrame(7, call)), pack(Pong())) == [CallFrame(7, call), Pong()]


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (forward(attention_masks=many(20_000_000, b"\x90")), "a call of 2000.* bytes, the limit is 8388608"),
        (forward(attention_masks=many(70_000, b"\x90")), "more than 65536 lists"),
        (forward(tokens=many(600_000, b"\x05")), "more than 524288 values"),
        (forward(tokens=b"\x91" * 5_000_000), "more than 65536 lists"),
        (forward(unknown=many(600_000, b"\x05")), "more than 524288 values"),
        (forward(**{f"field{number}": many(60_000, b"\x05") for number in range(10)}), "more than 524288 values"),
        (pack(CallFrame(7, calls.SendFile(b"", "n" * 2_000_000))), "send_file: a call of"),
        (pack(CallFrame(7, calls.SendMessage("x" * 2_000_000))), "send_message: a call of"),
        (
            pack(CallFrame(7, calls.InitializeEvolution(1, 1, 1.0, 2, 0.5, 1.0, ["q"] * 10_000))),
            "more than 4096 values",
        ),
        (pack(CallFrame(7, calls.BeginHttpAnswer(200, [("a", "b")] * 1_000))), "more than 256 lists"),
        (
            pack(CallFrame(7, calls.RenderTurn("m", TURN, calls.ChatState(held=[TURN] * 12_000)))),
            "more than 32768 lists",
        ),
    ],
)
def test_a_call_beyond_its_budget_is_answered_with_an_error_and_the_program_goes_on(frame, reason):
    (misfit, following) = taken(frame, pack(Pong()))
    assert following == Pong()
    assert (type(misfit), misfit.number, type(misfit.error)) == (InvalidCall, 7, InvalidArgumentError)
    with pytest.raises(InvalidArgumentError, match=reason):
        raise misfit.error
    assert misfit.error.hint


def test_what_is_too_large_is_not_kept_until_all_of_it_has_come():
    reader = WorkerFrames()
    frame = pack(CallFrame(7, calls.SendMessage("x" * 20_000_000)))
    tracemalloc.start()
    try:
        reader.feed(frame[: 2 * READ_BYTES])
        assert reader.next_frame().number == 7
        for start in range(2 * READ_BYTES, len(frame), READ_BYTES):
            reader.feed(frame[start : start + READ_BYTES])
            assert reader.next_frame() is None
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 10 * READ_BYTES
    reader.feed(pack(CancelCall(3)))
    assert reader.next_frame() == CancelCall(3)


@pytest.mark.parametrize("step", [100, 5_000, 1 << 20])
def test_what_is_too_large_may_be_cut_anywhere(step):
    too_large = pack(CallFrame(7, calls.SendMessage("x" * 2_000_000)))
    found = taken(pack(Pong()), too_large, pack(CancelCall(3)), too_large, pack(Pong()), step=step)
    assert [getattr(frame, "number", None) for frame in found] == [None, 7, 3, 7, None]


def test_a_posted_call_beyond_its_budget_is_dropped_like_others_that_fail():
    assert taken(pack(CallFrame(0, calls.SendMessage("x" * 2_000_000))))[0].number == 0


@pytest.mark.parametrize(
    "frame",
    [
        pack(Output("stdout", "x" * 2_000_000)),
        pack(Ended("x" * 7_000_000, "json")),
        pack(Ended(error=WireError("", "E", "", "", {str(number): 1 for number in range(3_000)}))),
        framed(b"\x94" * 3_000_000),
        framed(msgspec.msgpack.encode(["request", -1, {"call": "send_message", "text": "x" * 2_000_000}])),
    ],
)
def test_what_nobody_can_be_answered_about_ends_the_program(frame):
    with pytest.raises(ProtocolError):
        taken(frame)


def test_short_frames_are_decoded_at_once_and_others_beside_the_loop():
    def is_long(call):
        reader = WorkerFrames()
        reader.feed(pack(CallFrame(1, call)))
        return isinstance(reader.next_frame(), LongFrame)

    assert not is_long(calls.Forward(1, [5]))
    assert not is_long(calls.SendMessage("x" * 1_000_000))
    assert is_long(calls.Forward(1, pending=[150_000] * 10_000))
    assert is_long(calls.SendFile(bytes(2 << 20)))


def test_the_memory_of_a_call_is_reckoned_by_what_it_holds():
    reader = WorkerFrames()
    reader.feed(forward(attention_masks=many(1_000, b"\x90")))
    assert reader.next_frame() is not None
    assert reader.held_bytes <= 1_100 * 64  # a short one: as if each of its bytes were a list
    reader.feed(forward(attention_masks=many(10_000, b"\x90")))
    frame = reader.next_frame()
    assert frame.number == 7
    assert reader.held_bytes >= 10_000 * 64


def test_the_reference_has_the_limits_of_every_call():
    reference = Path(__file__).parents[4] / "docs" / "reference" / "limits.md"

    def row(name, budget):
        return f"| {name} | {budget.size_bytes / 2**20:g} MiB | {budget.most.values} | {budget.most.containers} |"

    rows = [row(name, budget) for name, budget in [*BUDGETS.items(), ("others", USUAL)]]
    assert "\n".join(rows) in reference.read_text()
