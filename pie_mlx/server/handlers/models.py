"""Loading models and giving their memory back, which administrators do."""

from pie_mlx.errors import AuthError
from pie_mlx.server.frames import LoadModel, UnloadModel
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.session.connection import Connection


@handles(LoadModel)
async def load_model(connection: Connection, request: LoadModel) -> str:
    _check_admin(connection)
    await connection.service.engine.models.load(request.name)
    return f"Model '{request.name}' is in memory"


@handles(UnloadModel)
async def unload_model(connection: Connection, request: UnloadModel) -> str:
    _check_admin(connection)
    await connection.service.engine.models.unload(request.name)
    return f"Model '{request.name}' has left the memory"


def _check_admin(connection: Connection) -> None:
    if not connection.user.admin:
        raise AuthError("models: only an administrator loads and unloads them", hint="ask one")
