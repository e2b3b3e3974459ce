"""No frame, however it is built, keeps the engine from its other work."""

import gc
import struct

from inferlet import runtime


def link():
    """The socket to the engine, which the program was never given."""
    runtime.models()
    hosts = [found for found in gc.get_objects() if type(found).__name__ == "WorkerHost"]
    return hosts[0]._socket


def send(payload):
    to = link()
    to.setblocking(True)
    to.sendall(struct.pack("<I", len(payload)) + payload)


def text(value):
    return bytes([0xA0 | len(value)]) + value.encode()


def call(name, fields):
    """A request: `fields` are what follows in its map."""
    head = b"\x93" + text("request") + struct.pack(">BI", 0xCE, 1_000_000)
    return head + bytes([0x80 | 1 + len(fields)]) + text("call") + text(name) + b"".join(fields)


def many(count, one):
    return struct.pack(">BI", 0xDD, count) + one * count


def frame(kind, size):
    turn = b"\x81" + text("role") + text("cue")
    match kind:
        case "lists":
            return call("forward", [text("context"), b"\x01", text("attention_masks") + many(size, b"\x90")])
        case "turns":
            state = b"\x81" + text("held") + many(size, turn)
            return call("render_turn", [text("model") + text("x"), text("turn") + turn, text("state") + state])
        case "numbers":
            return call("decode", [text("model") + text("x"), text("tokens") + many(size, b"\x05")])
        case "nested":
            return call("decode", [text("model") + text("x"), text("tokens") + b"\x91" * size])


async def main(input):
    send(frame(input["kind"], input["size"]))
    return runtime.models()
