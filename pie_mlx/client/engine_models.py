"""The models of a running engine."""

import json
from typing import Any

from pie_mlx.client.connection import Connection


class EngineModels:
    """Lists them, loads them and gives their memory back. Names may be aliases."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def list(self) -> list[dict[str, Any]]:
        """Every model that can be used, the default one first: its `name`, its `state`, the `size_bytes` that it takes
        of the memory, how many `processes` use it, and in how many seconds it leaves unused; of one that is loading the
        `progress`, of one in memory its `pages` and their `price`."""
        return json.loads(await self._connection.ask("query", subject="models", record="{}"))["models"]

    async def load(self, name: str) -> None:
        """Have a model in memory. Raises ModelNotFoundError and ModelLoadError."""
        await self._connection.ask("load_model", name=name)

    async def unload(self, name: str) -> None:
        """Give a model's memory back. Raises ModelError while programs use it."""
        await self._connection.ask("unload_model", name=name)
