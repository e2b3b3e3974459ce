"""Everything programs reach besides the model: each other, their children, and MCP servers."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial

from pie_mlx.engine.hosting.ports import HttpPort, Ports
from pie_mlx.events import Event, WantedDetails
from pie_mlx.runtime.children import LaunchedProcess, ProcessTree
from pie_mlx.runtime.children.process_tree import ProcessChildren
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.mcp import McpAccess, McpServers
from pie_mlx.runtime.messaging import Channel, Hub


class ProgramPorts:
    """Belongs to the loop of the engine's owner. `emit` may be called on any thread."""

    def __init__(
        self,
        process_tree: ProcessTree,
        mcp: McpServers,
        mcp_timeout_seconds: float,
        emit: Callable[[Event], None],
        details: WantedDetails,
        *,
        joins_traces: bool = False,
    ) -> None:
        self.process_tree = process_tree
        self.mcp = mcp
        self.hub = Hub()
        self._mcp_timeout_seconds = mcp_timeout_seconds
        self._emit = emit
        self._details = details
        self._joins_traces = joins_traces

    @contextmanager
    def entering(
        self, process_id: str, member: LaunchedProcess, parent: str | None, http: HttpPort | None = None
    ) -> Generator[Ports, None, None]:
        """Register a process that is being started and yield its ports; an error inside unregisters it.

        Raises LaunchError when a limit is reached.
        """
        self.process_tree.enter(process_id, member, parent)
        try:
            yield self._ports(process_id, member, http)
        except BaseException:
            self.process_tree.withdraw(process_id)
            raise

    def attend(self, process: Process) -> None:
        """The process has started: end its descendants with it."""
        self.process_tree.attend(process)

    async def close(self) -> None:
        """Release everything, once every process has ended. Idempotent."""
        await self.process_tree.wait_until_ended()
        await self.mcp.close()

    def _ports(self, process_id: str, member: LaunchedProcess, http: HttpPort | None) -> Ports:
        loop = asyncio.get_running_loop()
        relays = partial(self.process_tree.relays, process_id)
        trace = self.process_tree.trace(process_id) if self._joins_traces else None
        member.channel = Channel(self.hub, member.username, process_id, self._emit, self._details)
        return Ports(
            messaging=member.channel,
            children=ProcessChildren(self.process_tree, loop, process_id),
            mcp=McpAccess(process_id, self.mcp, relays, loop, self._mcp_timeout_seconds, self._emit, trace),
            http=http,
        )
