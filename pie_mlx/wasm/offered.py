"""Every interface that components can import."""

from pie_mlx.wasm.interfaces import (
    adapter,
    chat,
    context,
    inference,
    mcp,
    messaging,
    model,
    reasoning,
    rules,
    runtime,
    scheduling,
    session,
    tool_use,
    types,
    zo,
)
from pie_mlx.wasm.wasi import cli, clocks, filesystem, poll, random, streams
from pie_mlx.wasm.wasi.http import outgoing
from pie_mlx.wasm.wasi.http import types as http_types

_PIE = (adapter, chat, context, inference, mcp, messaging, model, reasoning, runtime, scheduling, session)
_ROOMS = (*_PIE, rules, tool_use, types, zo, cli, clocks, filesystem, http_types, outgoing, poll, random, streams)
OFFERED = {interface.name: interface for room in _ROOMS for interface in room.INTERFACES}

_REFUSED = {
    "pie:core/media": "this engine takes no images, video or audio",
    "pie:core/audio-out": "this engine makes no audio",
    "wasi:sockets/": "programs reach the network through wasi:http",
}


def refusal(name: str) -> str:
    """Why calls of an interface are refused, "" if they are not. A component may import it: what was built from a whole
    world imports all of it."""
    return next((why for prefix, why in _REFUSED.items() if name.startswith(prefix)), "")
