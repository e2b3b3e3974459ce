"""The HTTP interface of OpenAI, answered by a program that comes with the engine."""

from pie_mlx.runtime.daemon import Exchange, SharedLoop, builtin_program, resident_entry
from pie_mlx.runtime.process import Process
from pie_mlx.server.exchanges import ProcessApp
from pie_mlx.server.service import Service

USER = "local"


def openai_app(service: Service) -> ProcessApp:
    """Each request is a process of the engine's."""
    loop = SharedLoop("pie-openai")
    service.closers.append(loop.close)
    entry = resident_entry(builtin_program("openai"), loop)

    async def launch(exchange: Exchange) -> Process:
        process = await service.engine.launch(entry, http=exchange, username=USER)
        process.close_session()
        return process

    return ProcessApp(launch)
