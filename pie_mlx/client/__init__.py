"""Clients of a running engine: they know the wire, not the engine behind it.

async with await connect(unix_socket=...) as client:
    process = await client.launch("text-completion", {"prompt": "..."})
    async for event, data in process.events():
        ...
"""

from pie_mlx.client.client import Client, connect
from pie_mlx.client.discovery import Address, find_engine
from pie_mlx.client.frames import EngineEvent
from pie_mlx.client.process import RemoteProcess
from pie_mlx.client.watch import Watch

__all__ = ["Address", "Client", "EngineEvent", "RemoteProcess", "Watch", "connect", "find_engine"]
