"""`pie:core/session`."""

from functools import partial

from inferlet import session as sdk
from inferlet._calls.host import current_host
from pie_mlx.calls import AwaitIncoming, ReceiveFile, ReceiveMessage
from pie_mlx.wasm.interfaces.types import FutureBlob, FutureString
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.waiting import Arrivals


def send(message: str) -> None:
    sdk.send(message)


def receive() -> FutureString:
    host = current_host()
    return FutureString(Arrivals(partial(host.submit, AwaitIncoming("message")), partial(host.call, ReceiveMessage())))


def send_file(data: bytes) -> None:
    sdk.send_file(data)


def receive_file() -> FutureBlob:
    host = current_host()
    return FutureBlob(Arrivals(partial(host.submit, AwaitIncoming("file")), partial(host.call, ReceiveFile())))


INTERFACES = (Interface("pie:core/session", (send, receive, send_file, receive_file)),)
