"""The session with the client."""

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers_alone
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.errors import InvalidArgumentError

MESSAGE_LIMIT_BYTES = 1_000_000
"""The longest text one message may carry; frames of the wire are bounded."""
FILE_NAME_LIMIT_BYTES = 1024
"""It comes with every piece of the file."""


@answers_alone(calls.SendMessage)
async def send_message(process: HostedProcess, call: calls.SendMessage) -> None:
    size_bytes = len(call.text.encode("utf-8", "replace"))
    if size_bytes > MESSAGE_LIMIT_BYTES:
        raise InvalidArgumentError(
            f"message is {size_bytes} bytes, the limit is {MESSAGE_LIMIT_BYTES}", hint="use session.send_file"
        )
    process.session.message(call.text, call.format)


@answers_alone(calls.SendFile)
async def send_file(process: HostedProcess, call: calls.SendFile) -> None:
    size_bytes = len(call.name.encode("utf-8", "replace"))
    if size_bytes > FILE_NAME_LIMIT_BYTES:
        raise InvalidArgumentError(
            f"file name is {size_bytes} bytes, the limit is {FILE_NAME_LIMIT_BYTES}", hint="choose a shorter one"
        )
    process.session.file(call.data, call.name)


@answers_alone(calls.AwaitIncoming)
async def await_incoming(process: HostedProcess, call: calls.AwaitIncoming) -> None:
    await process.session.wait(call.what)


@answers_alone(calls.ReceiveMessage)
async def receive_message(process: HostedProcess, call: calls.ReceiveMessage) -> str | None:
    del call
    return process.session.take_message()


@answers_alone(calls.ReceiveFile)
async def receive_file(process: HostedProcess, call: calls.ReceiveFile) -> bytes | None:
    del call
    return process.session.take_file()
