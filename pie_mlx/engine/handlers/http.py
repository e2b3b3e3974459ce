"""The HTTP request a process answers."""

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.hosting.ports import HttpPort
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.services import Services
from pie_mlx.errors import SessionClosedError


@answers(calls.ReadHttpRequest)
async def read_request(services: Services, process: HostedProcess, call: calls.ReadHttpRequest) -> calls.HttpRequest:
    del services, call
    return _port(process).request


@answers(calls.BeginHttpAnswer)
async def begin_answer(services: Services, process: HostedProcess, call: calls.BeginHttpAnswer) -> None:
    del services
    _port(process).begin(call.status, call.headers)


@answers(calls.WriteHttpBody)
async def write_body(services: Services, process: HostedProcess, call: calls.WriteHttpBody) -> None:
    del services
    await _port(process).write(call.data, last=call.last)


def _port(process: HostedProcess) -> HttpPort:
    port = process.outside.http
    if port is None:
        raise SessionClosedError(
            "http: this process was not started for a request", hint="serve the program with launch_daemon"
        )
    return port
