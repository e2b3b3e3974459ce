"""What a call of a tool names, and what its answer says of a failure; the trace that a call is a part of."""

import msgspec

from pie_mlx.documents import json_struct
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.mcp.listing import NAME_CHARACTERS
from pie_mlx.trace.traceparent import HEADER, TraceParent

CALL_TOOL = "tools/call"
ERROR_CHARACTERS = 400
_NO_TEXT = "the tool failed and does not say why"


class _Params(msgspec.Struct):
    name: str


class _Content(msgspec.Struct):
    text: str = ""


class _Result(msgspec.Struct):
    content: list[_Content] = []
    isError: bool = False  # noqa: N815 - the protocol's name


def called_tool(method: str, params: str) -> str:
    """The name of the called tool; empty if the request calls none."""
    if method != CALL_TOOL:
        return ""
    try:
        return json_struct(params, _Params).name[:NAME_CHARACTERS]
    except InvalidArgumentError:
        return ""


def tool_error(result: str) -> str:
    """What a tool says of its failure, cut; empty if it did not fail."""
    try:
        told = json_struct(result, _Result)
    except InvalidArgumentError:
        return ""
    if not told.isError:
        return ""
    return " ".join(part.text for part in told.content if part.text)[:ERROR_CHARACTERS] or _NO_TEXT


def with_traceparent(params: str, trace: TraceParent) -> str:
    """The params with `traceparent` in their `_meta`, unless the program has put one there."""
    given = msgspec.json.decode(params, type=dict[str, msgspec.Raw])
    try:
        meta = msgspec.json.decode(given.get("_meta", b"{}"), type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return params  # the server says what is wrong with it
    meta.setdefault(HEADER, msgspec.Raw(msgspec.json.encode(str(trace))))
    given["_meta"] = msgspec.Raw(msgspec.json.encode(meta))
    return msgspec.json.encode(given).decode()
