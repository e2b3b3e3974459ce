"""Requests of the component, through the proxy that its policy allows: `wasi:http/outgoing-handler`."""

import asyncio
import http.client
import os
import urllib.request
from typing import Any, cast

from pie_mlx.wasm.binding.writers import Ok, WitError
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.waiting import Eventually
from pie_mlx.wasm.wasi.http.bodies import IncomingBody, OutgoingBody, send_to
from pie_mlx.wasm.wasi.http.fields import Fields, Method, Scheme, arrived, method_word, sent
from pie_mlx.wasm.wasi.poll import Pollable
from pie_mlx.wasm.wasi.streams import CHUNK_BYTES

_DEFAULT_SECONDS = 600.0
_SECOND_NS = 10**9


class RequestOptions:
    """How long to wait, in nanoseconds: the longest of the three counts."""

    def __init__(self) -> None:
        self._connect: int | None = None
        self._first: int | None = None
        self._between: int | None = None

    def connect_timeout(self) -> int | None:
        return self._connect

    def set_connect_timeout(self, duration: int | None) -> None:
        self._connect = duration

    def first_byte_timeout(self) -> int | None:
        return self._first

    def set_first_byte_timeout(self, duration: int | None) -> None:
        self._first = duration

    def between_bytes_timeout(self) -> int | None:
        return self._between

    def set_between_bytes_timeout(self, duration: int | None) -> None:
        self._between = duration


class OutgoingRequest:
    """A request that is being put together."""

    def __init__(self, headers: Fields) -> None:
        self._headers = headers
        self._method: Method = ("get", None)
        self._path: str | None = None
        self._scheme: Scheme | None = None
        self._authority: str | None = None
        self._body: OutgoingBody | None = None

    def body(self) -> OutgoingBody:
        if self._body is not None:
            raise WitError(None)
        self._body = OutgoingBody()
        return self._body

    def method(self) -> Method:
        return self._method

    def set_method(self, method: Method) -> None:
        self._method = method

    def path_with_query(self) -> str | None:
        return self._path

    def set_path_with_query(self, path: str | None) -> None:
        self._path = path

    def scheme(self) -> Scheme | None:
        return self._scheme

    def set_scheme(self, scheme: Scheme | None) -> None:
        self._scheme = scheme

    def authority(self) -> str | None:
        return self._authority

    def set_authority(self, authority: str | None) -> None:
        self._authority = authority

    def headers(self) -> Fields:
        return self._headers


class IncomingResponse:
    """A response: its head has arrived."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self._given = False

    def status(self) -> int:
        return self._response.status

    def headers(self) -> Fields:
        return arrived(self._response.getheaders())

    def consume(self) -> IncomingBody:
        if self._given:
            raise WitError(None)
        self._given = True
        return IncomingBody(lambda: self._response.read1(CHUNK_BYTES))


class FutureIncomingResponse:
    """A response that will arrive, or an error code."""

    def __init__(self, request: urllib.request.Request, body: OutgoingBody | None, seconds: float) -> None:
        self._taken = False
        self._arriving = Eventually(lambda: _exchange(request, body, seconds))

    def subscribe(self) -> Pollable:
        return Pollable(self._arriving.pending)

    def get(self) -> "Ok | WitError | None":
        outcome = self._arriving.now()
        if outcome is None:
            return None
        if self._taken:
            return WitError(None)
        self._taken = True
        return Ok(outcome)


def handle(request: OutgoingRequest, options: RequestOptions | None) -> FutureIncomingResponse:
    """Begin a request; it is sent once its body is whole."""
    if "HTTP_PROXY" not in os.environ:
        raise WitError(("internal-error", "the network is off: set [runtime] allow_network = true"))
    return FutureIncomingResponse(_request(request), request._body, _patience(options))  # pyright: ignore[reportPrivateUsage]


def _request(request: OutgoingRequest) -> urllib.request.Request:
    name, other = request.scheme() or ("HTTPS", None)
    scheme = (other or "") if name == "other" else name.lower()
    if scheme not in ("http", "https") or not request.authority():
        raise WitError("HTTP-request-URI-invalid")
    url = f"{scheme}://{request.authority()}{request.path_with_query() or '/'}"
    try:
        return urllib.request.Request(url, headers=dict(sent(request.headers())), method=method_word(request.method()))
    except ValueError as error:
        raise WitError("HTTP-request-URI-invalid") from error


def _patience(options: RequestOptions | None) -> float:
    if options is None:
        return _DEFAULT_SECONDS
    given = (options.connect_timeout(), options.first_byte_timeout(), options.between_bytes_timeout())
    known = [duration / _SECOND_NS for duration in given if duration is not None]
    return max(known, default=_DEFAULT_SECONDS)


async def _exchange(
    request: urllib.request.Request, body: OutgoingBody | None, seconds: float
) -> "IncomingResponse | WitError":
    if body is not None:
        request.data = await _whole(body)
    try:
        return IncomingResponse(await asyncio.to_thread(_sent, request, seconds))
    except TimeoutError:
        return WitError("connection-timeout")
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        return WitError(("internal-error", str(reason)))


async def _whole(body: OutgoingBody) -> bytes | None:
    ended: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    pieces = bytearray()

    def take(data: bytes, last: bool) -> None:
        pieces.extend(data)
        if last:
            ended.set_result(bytes(pieces))

    send_to(body, take)
    return await ended or None


class _AsItIs(urllib.request.HTTPErrorProcessor):
    """Gives every response to the component, also redirections and errors."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


def _sent(request: urllib.request.Request, seconds: float) -> http.client.HTTPResponse:
    opener = urllib.request.build_opener(_AsItIs)
    opener.addheaders = []
    return cast("http.client.HTTPResponse", opener.open(request, timeout=seconds))


INTERFACES = (Interface("wasi:http/outgoing-handler", (handle,)),)
