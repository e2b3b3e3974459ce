from pie_mlx.events import McpCalled
from pie_mlx.tui.model.facts import ConfiguredServer, Connection, Facts
from pie_mlx.tui.model.mcp import after_mcp, mcp_servers


def test_configured_servers_and_those_of_clients_are_listed_before_their_first_use():
    called = after_mcp({}, McpCalled("p", "files", "tools/call", 0.5, tool="read"))
    facts = Facts(
        connections=(Connection("c", "ada", mcp_servers=("notes",)),),
        mcp_servers=(ConfiguredServer("files", "stdio"), ConfiguredServer("weather", "http")),
    )
    rows = mcp_servers(called, facts)
    assert [(row.name, row.transport, row.state, row.calls) for row in rows] == [
        ("files", "", "client", 1),
        ("weather", "http", "unused", 0),
        ("notes", "of ada", "client", 0),
    ]
