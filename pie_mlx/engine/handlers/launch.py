"""Programs started by programs."""

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.services import Services


@answers(calls.LaunchChild)
async def launch_child(services: Services, process: HostedProcess, call: calls.LaunchChild) -> str:
    del services
    return await process.outside.children.launch(call.program, call.input)


@answers(calls.AwaitChild)
async def await_child(services: Services, process: HostedProcess, call: calls.AwaitChild) -> calls.ChildOutcome:
    del services
    return await process.outside.children.outcome(call.child)


@answers(calls.CancelChild)
async def cancel_child(services: Services, process: HostedProcess, call: calls.CancelChild) -> None:
    del services
    await process.outside.children.cancel(call.child)


@answers(calls.ForgetChild)
async def forget_child(services: Services, process: HostedProcess, call: calls.ForgetChild) -> None:
    del services
    await process.outside.children.forget(call.child)
