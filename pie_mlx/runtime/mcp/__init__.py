"""MCP servers for programs: configured ones, which the engine runs, and those of clients."""

from pie_mlx.runtime.mcp.access import McpAccess, McpRelay
from pie_mlx.runtime.mcp.error import mcp_error
from pie_mlx.runtime.mcp.server import McpServer, McpServerState
from pie_mlx.runtime.mcp.servers import McpServers

__all__ = ["McpAccess", "McpRelay", "McpServer", "McpServerState", "McpServers", "mcp_error"]
