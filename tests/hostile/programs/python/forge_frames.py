"""Frames that no SDK would write reach nothing but their own process, and end it."""

import gc
import os
import socket
import struct

import msgspec

from inferlet import runtime

LIMIT_BYTES = 65 << 20


def framed(value):
    data = value if isinstance(value, bytes) else msgspec.msgpack.encode(value)
    return struct.pack("<I", len(data)) + data


FORGED = {
    "no msgpack": framed(b"\xc1"),
    "nothing": framed(b""),
    "endless": struct.pack("<I", LIMIT_BYTES + 1),
    "half": struct.pack("<I", 100) + b"x",
    "deep": framed(b"\x91" * 100_000),
    "a map": framed({"call": "describe_runtime"}),
    "unknown frame": framed(["launch_missiles", 1]),
    "order": framed(["launch_spec", "other@1.0.0", ["/etc/passwd"], "main", "input", "{}", {}, "/", True]),
    "answer": framed(["answer", 1, None]),
    "stop": framed(["stop", "enough"]),
    "unknown call": framed(["request", 1, {"call": "launch_missiles"}]),
    "wrong type": framed(["request", "1", {"call": "describe_runtime"}]),
    "negative number": framed(["request", -1, {"call": "describe_runtime"}]),
    "number twice": framed(["request", 7, {"call": "await_message", "topic": "t", "ticket": 1}]) * 2,
    "end with more": framed(["ended", "x", "text"]) + framed(["output", "stdout", "after the end"]),
    "bad text": framed(b"\x93\xa6output\xa6stdout\xa2\xff\xfe"),
    "format": framed(["ended", "x", "picture"]),
    "error of a stranger": framed(["ended", "", "none", ["no_such_code", "NoSuchError", "x" * 100, "", {}]]),
}


def stolen():
    """Every context of the engine by number: none is this program's."""
    host = next(one for one in gc.get_objects() if type(one).__name__ == "WorkerHost")
    from pie_mlx import calls

    found = []
    for number in range(64):
        for call in (calls.ForkContext(number), calls.ReleasePages(number, 1), calls.SuspendContext(number)):
            try:
                host.call(call)
                found.append(f"{type(call).__name__} {number}")
            except Exception:
                pass
    return found


async def main(input):
    if input["forged"] == "contexts of others":
        return {"tried": 64, "worked": stolen()}
    host = next(one for one in gc.get_objects() if type(one).__name__ == "WorkerHost")
    link = next(part for part in vars(host).values() if isinstance(part, socket.socket))
    link.setblocking(True)
    link.sendall(FORGED[input["forged"]])
    if input["forged"] == "half":
        os._exit(0)
    return runtime.username() and "went on"
