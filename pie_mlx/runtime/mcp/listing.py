"""The tools in an answer to `tools/list`, for the monitor."""

import msgspec

from pie_mlx.documents import json_struct
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.events import McpTool, McpToolsListed

LIST_TOOLS = "tools/list"
TOOLS = 256
NAME_CHARACTERS = 128
DESCRIPTION_CHARACTERS = 200


def with_listed(known: tuple[McpTool, ...], listed: McpToolsListed) -> tuple[McpTool, ...]:
    """The known tools of a server after another answer."""
    return (*known, *listed.tools)[:TOOLS] if listed.continued else listed.tools


class _Tool(msgspec.Struct):
    name: str
    description: str | None = None


class _Result(msgspec.Struct):
    tools: list[_Tool]


class _Params(msgspec.Struct):
    cursor: str | None = None


def tools_listed(process: str, server: str, params: str, result: str) -> McpToolsListed | None:
    """The event, of bounded size; None if the answer is not a list of tools."""
    try:
        asked, told = json_struct(params, _Params), json_struct(result, _Result)
    except InvalidArgumentError:
        return None
    tools = tuple(
        McpTool(tool.name[:NAME_CHARACTERS], (tool.description or "").strip()[:DESCRIPTION_CHARACTERS])
        for tool in told.tools[:TOOLS]
    )
    return McpToolsListed(process, server, tools, asked.cursor is not None)
