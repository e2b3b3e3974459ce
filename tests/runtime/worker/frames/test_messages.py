"""The border between the engine and a worker is data, strictly typed."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx import calls
from pie_mlx.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    LaunchError,
    OutOfPagesError,
    ProcessError,
    ProtocolError,
)
from pie_mlx.runtime.worker.frames.messages import (
    FRAME_LIMIT_BYTES,
    Answer,
    CallFrame,
    CancelCall,
    Ended,
    ErrorAnswer,
    Output,
    Ping,
    Pong,
    ProgramLocation,
    Stop,
    WireError,
    is_long_reply,
    pack,
    pack_answer,
    pack_long_answer,
    reply_decoder,
)
from pie_mlx.runtime.worker.frames.reader import EngineFrames, WorkerFrames

SAID = [
    CallFrame(1, calls.Forward(3, tokens=[5])),
    CallFrame(2, calls.SendMessage("hi")),
    CancelCall(1),
    Output("stderr", "é\n"),
    Ended("1", "json"),
    Ended(error=WireError("launch", "LaunchError", "no", "hint", {"n": 1, "x": None})),
    Pong(),
]


def taken(reader):
    frames = []
    while (frame := reader.next_frame()) is not None:
        frames.append(frame)
    return frames


@given(st.data())
def test_frames_survive_being_cut_anywhere(data):
    stream = b"".join(map(pack, SAID))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    reader, frames = WorkerFrames(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        reader.feed(stream[start:end])
        frames += taken(reader)
    assert frames == SAID


@pytest.mark.parametrize(("frame", "name"), [(CancelCall(1 << 64), "cancel call"), (Stop("\ud800"), "stop")])
def test_what_the_wire_does_not_carry_is_refused(frame, name):
    with pytest.raises(InvalidArgumentError, match=f"{name}: "):
        pack(frame)


def test_what_the_engine_says_survives():
    said = [Stop("enough"), Ping(), ErrorAnswer(3, WireError("pie", "PieError", "m"))]
    reader = EngineFrames()
    reader.feed(b"".join(map(pack, said)))
    assert taken(reader) == said


def test_an_answer_is_decoded_as_the_reply_of_its_call():
    reply = calls.ForwardReply([], calls.PageCounters(1, 2, 3))
    reader = EngineFrames()
    reader.feed(pack_answer(7, reply))
    answer = reader.next_frame()
    assert isinstance(answer, Answer)
    assert (answer.number, reply_decoder(calls.Forward).decode(answer.reply)) == (7, reply)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_or_a_typed_error(data):
    reader = WorkerFrames()
    reader.feed(len(data).to_bytes(4, "little") + data)
    try:
        frame = reader.next_frame()
    except ProtocolError:
        return
    assert frame is not None


@pytest.mark.parametrize(
    "payload",
    [
        ["answer", 1, None],
        ["request", "1", {"call": "decode"}],
        ["request", 1, {"call": "launch_missiles"}],
        ["pong", 1],
        {},
        7,
    ],
)
def test_what_a_worker_may_not_say_is_refused(payload):
    data = msgspec.msgpack.encode(payload)
    reader = WorkerFrames()
    reader.feed(len(data).to_bytes(4, "little") + data)
    with pytest.raises(ProtocolError, match="malformed frame"):
        reader.next_frame()


def test_a_known_call_that_does_not_fit_its_type_says_whom_to_answer():
    reader = WorkerFrames()
    reader.feed(pack(CallFrame(3, calls.LoadModel(None))) + pack(Pong()))
    number, error = reader.next_frame()
    assert (number, error.message) == (3, "Expected `str`, got `None` - at `load_model.name`")
    assert reader.next_frame() == Pong()


@pytest.mark.parametrize(("name", "kind"), [(object(), InvalidTypeError), ("\ud800", InvalidArgumentError)])
def test_what_no_frame_can_hold_is_a_typed_error(name, kind):  # E2
    with pytest.raises(kind):
        pack(CallFrame(1, calls.LoadModel(name)))


def test_a_frame_that_is_too_long_is_refused_before_it_arrives():
    reader = WorkerFrames()
    reader.feed((FRAME_LIMIT_BYTES + 1).to_bytes(4, "little"))
    with pytest.raises(ProtocolError, match="the limit is"):
        reader.next_frame()


def test_a_frame_that_is_too_long_is_not_sent():
    with pytest.raises(ProtocolError, match="exceed a frame"):
        pack(Output("stdout", "x" * (FRAME_LIMIT_BYTES + 1)))


def test_typed_errors_keep_class_and_details():
    error = WireError.of(OutOfPagesError("full", hint="wait", needed=3, capacity=2)).exception()
    assert type(error) is OutOfPagesError
    assert (str(error), error.hint, error.needed) == ("full", "wait", 3)  # E2


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("x"), ValueError),
        (KeyError("x"), ProcessError),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "r"), ProcessError),
        (SystemExit(3), ProcessError),
        (type("Own", (Exception,), {})("x"), ProcessError),
        (LaunchError("x"), LaunchError),
    ],
)
def test_other_errors_become_what_says_the_same(error, kind):
    wire = WireError.of(error)
    assert wire.kind == type(error).__name__
    assert type(wire.exception()) is kind
    assert str(wire.exception()) == str(error)


def test_a_source_names_every_path_it_needs():
    source = ProgramLocation(
        "/a/main.py",
        "/a",
        {"b": ProgramLocation("/b.py"), "c": ProgramLocation("/c/main.py", "/c", {"d": ProgramLocation("/d.py")})},
    )
    assert source.paths() == ["/a", "/b.py", "/c", "/d.py"]


def test_the_text_of_an_error_fits_a_frame_whatever_it_tells_of():
    error = InvalidArgumentError(f"no {chr(0) * FRAME_LIMIT_BYTES!r}", hint="choose another name")
    reader = EngineFrames()
    reader.feed(pack(ErrorAnswer(1, WireError.of(error))))
    (refusal,) = taken(reader)
    assert refusal.error.message.startswith("no '")
    assert refusal.error.message.endswith(" [...]")


def test_long_results_are_known_by_the_numbers_they_hold():
    def is_long(*results):
        return is_long_reply(calls.ForwardReply(list(results), calls.PageCounters()))

    assert not is_long(calls.SampledTokens([5]), calls.LogprobValues([0.5]), calls.EntropyValue(0.5))
    assert not is_long(calls.HiddenStateValues([0.5] * 4_096))
    assert is_long(calls.Probabilities(list(range(9_000)), [0.5] * 9_000))
    assert is_long(calls.RawLogits(bytes(4 << 20)))
    assert not is_long_reply(calls.PageCounters())


def test_an_answer_made_result_by_result_is_the_same():
    results = [calls.SampledTokens([5]), calls.RawLogits(b"1234"), calls.Probabilities([1, 2], [0.5, 0.25])]
    reply = calls.ForwardReply(results, calls.PageCounters(1, 2, 3), prefetched=[7])
    assert pack_long_answer(9, reply) == pack_answer(9, reply)
