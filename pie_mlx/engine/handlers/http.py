"""The HTTP request a process answers."""

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers_alone
from pie_mlx.engine.hosting.ports import HttpPort
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.errors import SessionClosedError


@answers_alone(calls.ReadHttpRequest)
async def read_request(process: HostedProcess, call: calls.ReadHttpRequest) -> calls.HttpRequest:
    del call
    return _port(process).request


@answers_alone(calls.BeginHttpAnswer)
async def begin_answer(process: HostedProcess, call: calls.BeginHttpAnswer) -> None:
    _port(process).begin(call.status, call.headers)


@answers_alone(calls.WriteHttpBody)
async def write_body(process: HostedProcess, call: calls.WriteHttpBody) -> None:
    await _port(process).write(call.data, last=call.last)


def _port(process: HostedProcess) -> HttpPort:
    port = process.outside.http
    if port is None:
        raise SessionClosedError(
            "http: this process was not started for a request", hint="serve the program with launch_daemon"
        )
    return port
