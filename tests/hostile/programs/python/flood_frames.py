"""No frame, however it is built, and no number of them keeps the engine from its other work."""

import gc
import socket
import struct

from inferlet import runtime


def link():
    """The socket to the engine, which the program was never given."""
    runtime.models()
    host = next(one for one in gc.get_objects() if type(one).__name__ == "WorkerHost")
    found = next(part for part in vars(host).values() if isinstance(part, socket.socket))
    found.setblocking(True)
    return found


def text(value):
    return bytes([0xA0 | len(value)]) + value.encode()


def framed(payload):
    return struct.pack("<I", len(payload)) + payload


def call(name, fields, number):
    """A request: `fields` are what follows in its map."""
    head = b"\x93" + text("request") + struct.pack(">BI", 0xCE, number)
    return framed(head + bytes([0x81 + len(fields)]) + text("call") + text(name) + b"".join(fields))


def many(count, one):
    return struct.pack(">BI", 0xDD, count) + one * count


def frame(kind, size, number):
    turn = b"\x81" + text("role") + text("cue")
    match kind:
        case "lists":
            return call("forward", [text("context") + b"\x01", text("attention_masks") + many(size, b"\x90")], number)
        case "turns":
            state = b"\x81" + text("held") + many(size, turn)
            fields = [text("model") + text("x"), text("turn") + turn, text("state") + state]
            return call("render_turn", fields, number)
        case "numbers":
            return call("decode", [text("model") + text("x"), text("tokens") + many(size, b"\x05")], number)
        case "nested":
            return call("decode", [text("model") + text("x"), text("tokens") + b"\x91" * size], number)
        case "posted":
            return call("release_matcher", [text("matcher") + b"\x01"], 0) * size
        case "taken back":
            return b"".join(framed(b"\x92" + text("cancel_call") + bytes([one & 127])) for one in range(size))


async def main(input):
    to = link()
    for number in range(1_000_000, 1_000_000 + input["times"]):
        to.sendall(frame(input["kind"], input["size"], number))
    to.setblocking(False)
    return runtime.models()
