import json

from pie_mlx.events import McpTool, McpToolsListed
from pie_mlx.runtime.mcp.listing import DESCRIPTION_CHARACTERS, TOOLS, tools_listed


def listed(*tools: dict[str, object], params: str = "{}") -> McpToolsListed | None:
    return tools_listed("p", "files", params, json.dumps({"tools": tools}))


def test_tools_have_a_name_and_what_the_server_says_about_them() -> None:
    found = listed({"name": "read", "description": " Read a file ", "inputSchema": {}}, {"name": "stop"})
    assert found == McpToolsListed("p", "files", (McpTool("read", "Read a file"), McpTool("stop")))


def test_what_follows_a_cursor_continues_the_list() -> None:
    found = listed({"name": "more"}, params='{"cursor": "2"}')
    assert found is not None
    assert found.continued


def test_a_list_without_end_is_bounded() -> None:
    found = listed(*({"name": "x" * 999, "description": "y" * 9999} for _ in range(1000)))
    assert found is not None
    assert len(found.tools) == TOOLS
    assert len(found.tools[0].description) == DESCRIPTION_CHARACTERS


def test_an_answer_that_is_no_list_of_tools_is_no_event() -> None:
    assert tools_listed("p", "files", "{}", '{"tools": 3}') is None
    assert tools_listed("p", "files", "{}", "{}") is None
    assert tools_listed("p", "files", "[]", '{"tools": []}') is None
