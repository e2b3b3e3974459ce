"""MCP: tools, resources and prompts of servers that are configured here or run at a client."""

from pie_mlx.runtime.mcp.access import McpAccess, McpRelay
from pie_mlx.runtime.mcp.error import mcp_error
from pie_mlx.runtime.mcp.server import McpServer, McpServerState
from pie_mlx.runtime.mcp.servers import McpServers

__all__ = ["McpAccess", "McpRelay", "McpServer", "McpServerState", "McpServers", "mcp_error"]
