"""The frames the server sends."""

from typing import Literal

import msgspec

from pie_mlx.wire_text import clean_text

VALUE_LIMIT_BYTES = 1_000_000
"""UTF-8 of one value; clients refuse frames above 1 MiB."""

_encoder = msgspec.msgpack.Encoder()


def response(corr_id: int, ok: bool, result: str, **more: str) -> bytes:
    """A response; a result that is too long for a frame is replaced by an error."""
    result = clean_text(result)
    size_bytes = len(result.encode())
    if size_bytes > VALUE_LIMIT_BYTES:
        ok = False
        result = (
            f"the answer is {size_bytes} bytes, the limit is {VALUE_LIMIT_BYTES}: ask for a part of it with the "
            "paging options 'after' and 'limit' of a query"
        )
    return _encoder.encode({"type": "response", "corr_id": corr_id, "ok": ok, "result": result, **more})


def engine_event(sequence: int, time: float, kind: str, data: str) -> bytes:
    return _encoder.encode({"type": "engine_event", "sequence": sequence, "time": time, "kind": kind, "data": data})


def mcp_request(corr_id: int, process_id: str, server_name: str, method: str, params: str) -> bytes:
    return _encoder.encode(
        {
            "type": "mcp_request",
            "corr_id": corr_id,
            "process_id": process_id,
            "server_name": server_name,
            "method": method,
            "params": params,
        }
    )


EventName = Literal["stdout", "stderr", "message", "return", "error"]


def process_event(process_id: str, event: EventName, value: str, **more: str) -> bytes:
    return _encoder.encode(
        {"type": "process_event", "process_id": process_id, "event": event, "value": clean_text(value), **more}
    )


def file_chunk(process_id: str, file_hash: str, index: int, total: int, data: bytes, name: str) -> bytes:
    chunk = {
        "type": "file",
        "process_id": process_id,
        "file_hash": file_hash,
        "chunk_index": index,
        "total_chunks": total,
        "chunk_data": data,
    }
    return _encoder.encode({**chunk, "name": clean_text(name)} if name else chunk)
