"""Clients that read too slowly, or not at all: programs wait for a while, then the client is cut off."""

import asyncio

import pytest

from pie_mlx.events import ProcessFile, ProcessMessage, ProcessOutput, ProcessReturned
from pie_mlx.server import ServerSettings
from pie_mlx.server.session.outbox import CHUNK_BYTES, FRAMES_LIMIT, Outbox, text_pieces
from tests.ports import free_port
from tests.server.programs import PLAYER
from tests.server.running import MANIFEST, RunningServer, write_program
from tests.server.speaking import hang_up, speak

pytestmark = pytest.mark.timeout(40)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with little patience, and programs in processes of their own."""
    settings = ServerSettings(port=0, slow_reader_seconds=0.5)
    running = RunningServer(tmp_path_factory.mktemp("home"), settings, isolation="process").start()
    running.server.service.programs.install(PLAYER.encode(), MANIFEST.format(name="player", version="0.1.0"))
    yield running
    running.stop()


async def test_who_does_not_read_is_cut_off_and_the_program_goes_on(server):
    async with await speak(server, "ada") as watching:
        slow = await speak(server, "ada", max_queue=1)
        process = await slow.launch({"do": "files", "n": 160, "size": 500_000})
        await slow.event(process)
        slow.socket.transport.pause_reading()
        while slow.socket.protocol.state.name == "OPEN" and (await row(watching, process))["attached"]:
            await watching.ask("ping")
        slow.socket.transport.abort()
        assert await watching.ask("attach_process", process_id=process) == (True, "Process attached")
        last = await watching.event(process)
        while "event" not in last or last["event"] not in ("return", "error"):
            last = await watching.event(process)
        assert last["value"] == "sent"  # 1.8


LINES = 5_000
"""Of 2000 bytes each: more than the Unix socket of a client that does not read, and its outbox, can take."""
TALKER = """
from inferlet import session

async def main(input):
    await session.receive()
    for number in range(input["lines"]):
        print(str(number).ljust(2000))
    return "said"
"""


@pytest.fixture
def patient_server(tmp_path, monkeypatch):
    """A server that holds programs early and never loses patience; with the talker installed."""
    monkeypatch.setattr("pie_mlx.server.session.outbox.BYTES_LIMIT", 1 << 20)
    settings = ServerSettings(port=0, slow_reader_seconds=600, pong_seconds=600)
    running = RunningServer(tmp_path, settings, isolation="process").start()
    running.server.service.programs.install(TALKER.encode(), MANIFEST.format(name="talker", version="0.1.0"))
    yield running
    running.stop()


async def test_a_program_that_was_held_goes_on_when_its_client_reads_again(patient_server):
    async with await speak(patient_server, "ada", unix=True, max_queue=1) as slow:
        process = await slow.launch({"lines": LINES}, inferlet="talker")
        await slow.send(type="signal_process", process_id=process, message="speak")
        async with await speak(patient_server, "ada") as watching:
            while (await row(watching, process))["reason"] != "waits for its client to read":
                pass
        assert (await slow.events(process))[-1]["value"] == "said"


async def row(speaker, process):
    (found,) = (await speaker.query("processes", {"id_prefix": process, "all": True}))["processes"]
    return found


FLOOD = """
from inferlet import session

async def flood():
    while True:
        yield "x" * 65_536

async def handle(request):
    return {"body": flood()}
"""


async def test_who_does_not_read_an_answer_ends_its_process(server, tmp_path):
    program, manifest = write_program(tmp_path, "flood", FLOOD, more='[runtime]\nentry = "handle"\n')
    server.server.service.programs.install(program.read_bytes(), manifest.read_text())
    port = free_port()
    async with await speak(server, "ada") as ada:
        launched, answer = await ada.ask("launch_daemon", port=port, inferlet="flood@0.1.0", input="{}")
        assert launched, answer
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        writer.write(f"GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
        await reader.readexactly(1)
        while "killed" not in await states(ada):
            pass
        await hang_up(writer)


async def states(speaker):
    return [row["state"] for row in (await speaker.query("processes", {"all": True}))["processes"]]


def message(text, process="p"):
    return ProcessMessage(process, text), b""


def kinds(outbox):
    found = []
    while (frame := outbox.next_frame()) is not None:
        found.append(frame)
    return found


def test_an_outbox_is_first_in_first_out():
    outbox = Outbox()
    outbox.put(b"response")
    outbox.put_event(*message("one"))
    assert [b"response" in frame or b"one" in frame for frame in kinds(outbox)] == [True, True]


def test_files_of_a_held_process_and_what_follows_them_wait():
    outbox = Outbox()
    outbox.hold("p")
    outbox.put_event(*message("before"))
    outbox.put_event(ProcessFile("p", "f", 1), b"x")
    outbox.put_event(ProcessReturned("p", "end"), b"")
    outbox.put_event(*message("other", "q"))
    assert [b"before" in frame or b"other" in frame for frame in kinds(outbox)] == [True, True]
    outbox.release("p")
    assert [b"chunk_data" in frame or b"return" in frame for frame in kinds(outbox)] == [True, True]  # 1.5


def test_files_do_not_interleave():
    outbox = Outbox()
    outbox.put_event(ProcessFile("p", "a", 2), bytes(2 * CHUNK_BYTES))
    outbox.put_event(ProcessFile("q", "b", 2), bytes(2 * CHUNK_BYTES))
    assert [b"process_id\xa1p" in frame for frame in kinds(outbox)] == [True, True, False, False]


def test_what_was_begun_counts_as_unsent_until_its_end():
    outbox = Outbox()
    file = (ProcessFile("p", "a", 2), bytes(2 * CHUNK_BYTES))
    outbox.put_event(*file)
    outbox.put_event(*message("later"))
    outbox.next_frame()
    assert outbox.unsent() == [file, message("later")]
    outbox.next_frame()
    assert outbox.unsent() == [message("later")]


def test_an_outbox_is_full_by_frames_and_by_bytes():
    many, large = Outbox(), Outbox()
    for _ in range(FRAMES_LIMIT):
        assert not many.is_full
        many.put(b"")
    assert many.is_full
    large.put_event(ProcessFile("p", "a", 1), bytes(64 << 20))
    assert large.is_full
    kinds(large)
    assert not large.is_full


def test_text_is_cut_between_characters():
    text = "é" * CHUNK_BYTES
    pieces = list(text_pieces("a" + text))
    assert "".join(pieces) == "a" + text
    assert max(len(piece.encode()) for piece in pieces) <= CHUNK_BYTES
    assert list(text_pieces("")) == [""]


def test_long_output_is_several_frames():
    outbox = Outbox()
    outbox.put_event(ProcessOutput("p", "stdout", "x" * (3 * CHUNK_BYTES)), b"")
    assert len(kinds(outbox)) == 3
