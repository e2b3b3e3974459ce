"""Programs started by programs."""

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers_alone
from pie_mlx.engine.hosting.process import HostedProcess


@answers_alone(calls.LaunchChild)
async def launch_child(process: HostedProcess, call: calls.LaunchChild) -> str:
    return await process.outside.children.launch(call.program, call.input)


@answers_alone(calls.AwaitChild)
async def await_child(process: HostedProcess, call: calls.AwaitChild) -> calls.ChildOutcome:
    return await process.outside.children.outcome(call.child)


@answers_alone(calls.CancelChild)
async def cancel_child(process: HostedProcess, call: calls.CancelChild) -> None:
    await process.outside.children.cancel(call.child)


@answers_alone(calls.ForgetChild)
async def forget_child(process: HostedProcess, call: calls.ForgetChild) -> None:
    await process.outside.children.forget(call.child)
