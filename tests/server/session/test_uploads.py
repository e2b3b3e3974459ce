import pytest
from blake3 import blake3

from tests.server.running import MANIFEST
from tests.server.speaking import speak

pytestmark = pytest.mark.timeout(30)
SOURCE = b"async def main(input):\n    return 1\n"


@pytest.fixture
async def speaker(server):
    async with await speak(server, "ada") as speaker:
        yield speaker


def manifest(name):
    return MANIFEST.format(name=name, version="1.0.0")


async def test_a_program_in_many_small_chunks(speaker):
    assert await speaker.upload(SOURCE, manifest("small"), chunk_bytes=1) == (True, "Program installed successfully")


async def test_a_wrong_hash_is_refused(speaker):
    ok, result = await speaker.upload(SOURCE, manifest("hash"), program_hash="00")
    assert (ok, result) == (False, f"Program hash mismatch: expected 00, got {blake3(SOURCE).hexdigest()}")


async def test_a_manifest_that_does_not_hold_is_refused_with_the_first_chunk_and_the_rest_is_swallowed(speaker):
    ok, result = await speaker.upload(SOURCE, "[package]\nname = 1\n", chunk_bytes=4)
    assert not ok
    assert result.startswith("Invalid manifest: ")
    assert await speaker.ask("ping") == (True, "Pong")
    assert speaker.responses == {}  # 1.5


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\0asm\1\0\0\0", "program: a core module of WebAssembly, not a component"),
        (b"\x00\x01", "unrecognised program: expected Python source"),
        (b"def main(:\n", "main.py:1: "),
        (b"PK\x03\x04broken", "package"),
    ],
)
async def test_what_is_no_program_is_refused(speaker, payload, reason):
    ok, result = await speaker.upload(payload, manifest("bad"))
    assert not ok
    assert reason in result


@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        ([(1, 3)], "First chunk index must be 0"),
        ([(0, 3), (1, 4)], "Chunk count mismatch: expected 3, got 4"),
        ([(0, 3), (2, 3)], "Out-of-order chunk: expected 1, got 2"),
    ],
)
async def test_chunks_that_do_not_follow_are_refused(speaker, chunks, reason):
    for index, total in chunks:
        frame = {"program_hash": "", "manifest": manifest("order"), "force_overwrite": False, "chunk_data": b"x"}
        await speaker.send(type="add_program", corr_id=500, chunk_index=index, total_chunks=total, **frame)
    assert await speaker.answer(500) == (False, reason)


async def test_chunks_that_are_too_long_or_too_many_are_refused(speaker):
    ok, result = await speaker.upload(bytes((1 << 20) + 1), manifest("long"), chunk_bytes=2 << 20)
    assert not ok
    assert result.startswith("Invalid message 'add_program': chunk_data: ")
    ok, result = await speaker.upload(SOURCE, manifest("many"), total_chunks=65_537)
    assert result.startswith("Invalid message 'add_program': total_chunks: ")


async def test_an_upload_that_is_too_large_is_refused_early(server, speaker):
    speaker_limit = 1 << 20
    for connection in server.server.service.connections:
        connection.programs.limit_bytes = speaker_limit
    ok, result = await speaker.upload(b"#" * (3 << 20), manifest("large"))
    assert (ok, result) == (False, "upload exceeds max_upload_mb cap of 1 MiB")


async def test_only_so_many_uploads_at_once(speaker):
    frame = {"program_hash": "", "manifest": manifest("more"), "force_overwrite": False, "chunk_data": b"x"}
    for number in range(600, 605):
        await speaker.send(type="add_program", corr_id=number, chunk_index=0, total_chunks=2, **frame)
    ok, result = await speaker.answer(604)
    assert (ok, result) == (False, "4 programs are being uploaded on this connection already")


async def test_an_upload_that_stalls_is_given_up(server, speaker):
    frame = {"program_hash": "", "manifest": manifest("slow"), "force_overwrite": False, "chunk_data": b"x"}
    await speaker.send(type="add_program", corr_id=700, chunk_index=0, total_chunks=2, **frame)
    await speaker.ask("ping")
    give_up(server)
    assert await speaker.answer(700) == (False, "upload abandoned: no data for 60 s")


async def test_a_client_that_vanishes_in_the_middle_leaves_nothing(server, speaker):
    gone = await speak(server, "ada")
    frame = {"program_hash": "", "manifest": manifest("half"), "force_overwrite": False, "chunk_data": b"x"}
    await gone.send(type="add_program", corr_id=1, chunk_index=0, total_chunks=2, **frame)
    gone.socket.transport.abort()
    assert await speaker.ask("check_program", name="half", version="1.0.0") == (True, "false")


async def send_file(speaker, process, data, *, indices=None, file_hash=None, chunk_bytes=4):
    total = max(1, -(-len(data) // chunk_bytes))
    for index in range(total) if indices is None else indices:
        chunk = data[index * chunk_bytes : (index + 1) * chunk_bytes]
        await speaker.send(
            type="transfer_file",
            process_id=process,
            file_hash=file_hash or blake3(data).hexdigest(),
            chunk_index=index,
            total_chunks=total,
            chunk_data=chunk,
        )


async def test_equal_files_may_overlap(speaker):
    first = await speaker.launch({"do": "file"})
    second = await speaker.launch({"do": "file"})
    for index in (0, 1, 2):
        await send_file(speaker, first, b"0123456789", indices=[index])
        await send_file(speaker, second, b"0123456789", indices=[index])
    for process in (first, second):
        assert (await speaker.event(process))["chunk_data"] == b"9876543210"


async def test_a_chunk_goes_to_the_oldest_upload_that_expects_it(speaker):
    process = await speaker.launch({"do": "file"})
    for index in (0, 0, 1, 1, 2, 2):
        await send_file(speaker, process, b"0123456789", indices=[index])
    assert (await speaker.event(process))["chunk_data"] == b"9876543210"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"file_hash": "00"}, "[pie] File hash mismatch: expected 00, got "),
        ({"indices": [1, 2]}, "[pie] First chunk index must be 0"),
        ({"indices": [0, 2]}, "[pie] Out-of-order chunk: expected 1, got 2"),
    ],
)
async def test_a_refused_file_is_a_notice(speaker, options, reason):
    process = await speaker.launch({"do": "wait"})
    await speaker.event(process)
    await send_file(speaker, process, b"0123456789", **options)
    notice = await speaker.event(process)
    assert notice["event"] == "stderr"
    assert notice["value"].startswith(reason)
    await speaker.ask("ping")
    assert speaker.others == []


async def test_files_nobody_takes_are_refused_beyond_a_number(speaker):
    process = await speaker.launch({"do": "wait"})
    await speaker.event(process)
    for number in range(17):
        await send_file(speaker, process, bytes([number]))
    assert (await speaker.event(process))["value"].startswith("[pie] file refused: 16 files with 16 bytes wait")


async def test_a_file_that_stalls_is_given_up(server, speaker):
    process = await speaker.launch({"do": "wait"})
    await speaker.event(process)
    await send_file(speaker, process, b"0123456789", indices=[0])
    await speaker.ask("ping")
    give_up(server)
    assert "abandoned: no data for 60 s" in (await speaker.event(process))["value"]


def give_up(server):
    """What the server does now and then, as if a minute had passed."""

    async def sweep():
        for connection in server.server.service.connections:
            for uploads in (connection.programs, connection.files):
                clock, uploads.clock = uploads.clock, lambda: float("inf")
                connection.give_up_stalled_uploads()
                uploads.clock = clock

    server.call(sweep())
