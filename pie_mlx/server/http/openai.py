"""OpenAI's HTTP interface, answered by a built-in program."""

import json

from pie_mlx.config.user_names import RESERVED_USER
from pie_mlx.runtime.daemon import HttpExchange, ResidentProgram, SharedLoop, builtin_program
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.registry import Launch, User
from pie_mlx.server.http.process_app import ProcessApp
from pie_mlx.server.service import Service

UNAUTHENTICATED = User("local")


def openai_app(service: Service) -> ProcessApp:
    """Each request is a process like any other, owned by a fixed user."""
    loop = SharedLoop("pie-openai")
    service.closers.append(loop.close)
    program = builtin_program("openai")
    resident = ResidentProgram(program, loop)
    user = User(RESERVED_USER) if service.settings.authentication else UNAUTHENTICATED

    async def launch(exchange: HttpExchange) -> Process:
        number = dict(exchange.request.headers)["x-request-id"]
        asked = json.dumps({"path": exchange.request.path, "request_id": number})  # what a listing shows as its input
        request = Launch(program, asked, captures=False, http=exchange, entry=resident.entry(exchange))
        process = await service.registry.launch_at_once(user, request)
        service.requests.begin(process.id, exchange.request.path, exchange.asked_seconds)
        process.close_session()
        return process

    patience_seconds = service.settings.slow_reader_seconds
    return ProcessApp(launch, patience_seconds=patience_seconds, finished=service.requests.finish)
