"""MCP servers of the client."""

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.server.frames import McpResponse, RegisterMcpServer
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.session.client_mcp import Announced
from pie_mlx.server.session.connection import Connection


@handles(RegisterMcpServer)
async def register(connection: Connection, request: RegisterMcpServer) -> str:
    if request.transport not in ("stdio", "http"):
        raise InvalidArgumentError(
            f"MCP server '{request.name}': transport '{request.transport[:64]}' is neither stdio nor http"
        )
    announced = Announced(request.name, request.transport, request.command, tuple(request.args or ()), request.url)
    connection.mcp.announce(announced)
    return "MCP server registered"


@handles(McpResponse)
async def response(connection: Connection, answer: McpResponse) -> None:
    connection.mcp.answered(answer.corr_id, answer.ok, answer.result)
