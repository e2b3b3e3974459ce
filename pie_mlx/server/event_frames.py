"""Events of processes as frames."""

from collections.abc import Iterator

from blake3 import blake3

from pie_mlx.events import (
    ProcessEvent,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessReturned,
)
from pie_mlx.server.frames import VALUE_LIMIT_BYTES, file_chunk, process_event

CHUNK_BYTES = 256 << 10


def event_frames(event: ProcessEvent, data: bytes) -> Iterator[bytes]:
    """In order; each well below what a client takes. `data` are the contents of a file."""
    match event:
        case ProcessOutput(process=process, stream=stream, text=text):
            for piece in text_pieces(text):
                yield process_event(process, stream, piece)
        case ProcessMessage(process=process, text=text, format=format):
            yield process_event(process, "message", text, format=format)
        case ProcessFile(process=process, name=name):
            yield from _file_frames(process, data, name)
        case ProcessReturned(process=process, value=value, format=format):
            yield process_event(process, "return", value, format=format)
        case ProcessFailed(process=process, message=message, error_type=error_type, hint=hint):
            shown = message[: VALUE_LIMIT_BYTES // 4]
            yield process_event(process, "error", shown, error_type=error_type[:1000], hint=hint[:1000])
        case ProcessLaunched():
            return


def frame_count(event: ProcessEvent, data: bytes) -> int:
    """About how many frames it takes."""
    return 1 + len(data) // CHUNK_BYTES if isinstance(event, ProcessFile) else 1


def text_pieces(text: str) -> Iterator[str]:
    """`text` cut between characters into pieces of at most CHUNK_BYTES of UTF-8."""
    encoded = text.encode(errors="replace")
    start = 0
    while len(encoded) - start > CHUNK_BYTES:
        end = start + CHUNK_BYTES
        while encoded[end] & 0xC0 == 0x80:  # not in the middle of a character
            end -= 1
        yield encoded[start:end].decode()
        start = end
    yield encoded[start:].decode()


def _file_frames(process: str, data: bytes, name: str) -> Iterator[bytes]:
    digest = blake3(data).hexdigest()
    total = max(1, -(-len(data) // CHUNK_BYTES))
    for index in range(total):
        start = index * CHUNK_BYTES
        yield file_chunk(process, digest, index, total, data[start : start + CHUNK_BYTES], name)
