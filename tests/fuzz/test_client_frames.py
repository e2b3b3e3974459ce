"""Frames of the right form with values nobody expects, said to a server that runs."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from pie_mlx.server import frames
from tests.fuzz.values import almost

LOCKED_OUT_FOR = (frames.AuthProve, frames.AuthByToken)
"""Wrong proofs and tokens are counted against the address of a client."""
KINDS = [kind for kind in frames.AnyFrame.__args__ if kind not in LOCKED_OUT_FOR]
FAULT = 1011
PATIENCE_SECONDS = 20
"""An answer that takes so long is none."""


def answered(url, said):
    """What the server says to these frames, until its answer to the ping after them, or why it closes."""
    found, last = [], len(said) + 1
    with connect(url, compression=None, max_size=1 << 20) as socket:
        try:
            for number, frame in enumerate([{"type": "auth_identify", "username": "ada"}, *said, {"type": "ping"}]):
                socket.send(msgspec.msgpack.encode({"corr_id": number, **frame} if _is_answered(frame) else frame))
            while not found or found[-1].get("corr_id") != last:
                found.append(msgspec.msgpack.decode(socket.recv(PATIENCE_SECONDS)))
        except ConnectionClosed as closed:
            if closed.rcvd is None or closed.rcvd.code == FAULT:
                pytest.fail(f"{said}: {closed}")
    return found


def _is_answered(frame):
    return frame.get("type") not in ("signal_process", "close_session", "transfer_file", "mcp_response")


@given(st.lists(st.one_of(*map(almost, KINDS)), max_size=4))
def test_a_frame_is_answered_or_refused(server, said):
    answered(server.url, [{key: value for key, value in frame.items() if key != "corr_id"} for frame in said])
