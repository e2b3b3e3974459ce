"""Requests that the component answers: `wasi:http/incoming-handler`."""

from inferlet._calls.host import HostLink
from inferlet.sync._blocking import wait
from pie_mlx.calls import BeginHttpAnswer, HttpRequest, WriteHttpBody
from pie_mlx.errors import ProcessError, SessionClosedError
from pie_mlx.wasm.binding.writers import WitError
from pie_mlx.wasm.wasi.http.bodies import IncomingBody, OutgoingBody, send_to, whole
from pie_mlx.wasm.wasi.http.fields import Fields, Method, Scheme, arrived, as_method, sent

_LENGTH = "content-length"


class IncomingRequest:
    """The request of this process."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._given = False

    def method(self) -> Method:
        return as_method(self._request.method)

    def path_with_query(self) -> str | None:
        return self._request.path + (f"?{self._request.query}" if self._request.query else "")

    def scheme(self) -> Scheme | None:
        return "HTTP", None

    def authority(self) -> str | None:
        return next((value for name, value in self._request.headers if name == "host"), None)

    def headers(self) -> Fields:
        return arrived(self._request.headers)

    def consume(self) -> IncomingBody:
        if self._given:
            raise WitError(None)
        self._given = True
        return whole(self._request.body)


class OutgoingResponse:
    """An answer that is being put together."""

    def __init__(self, headers: Fields) -> None:
        self._headers = headers
        self._status = 200
        self._body: OutgoingBody | None = None

    def status_code(self) -> int:
        return self._status

    def set_status_code(self, status: int) -> None:
        if not 200 <= status <= 599:
            raise WitError(None)
        self._status = status

    def headers(self) -> Fields:
        return self._headers

    def body(self) -> OutgoingBody:
        if self._body is not None:
            raise WitError(None)
        self._body = OutgoingBody()
        return self._body


class ResponseOutparam:
    """The place for the answer to a request."""

    def __init__(self, host: HostLink) -> None:
        self.answered = False
        self._host = host

    @classmethod
    def set(cls, place: "ResponseOutparam", response: "tuple[bool, OutgoingResponse | tuple[str, object]]") -> None:
        place.answered = True
        _, answer = response
        if not isinstance(answer, OutgoingResponse):
            name, _ = answer
            raise ProcessError(f"component: it answers its request with the error '{name}'", hint="see its own output")
        place._begin(answer)

    def _begin(self, answer: OutgoingResponse) -> None:
        headers = [pair for pair in sent(answer.headers()) if pair[0] != _LENGTH]
        wait(self._host.submit(BeginHttpAnswer(answer.status_code(), headers)))
        body = answer._body  # pyright: ignore[reportPrivateUsage]
        if body is None:
            self._write(b"", True)
        else:
            send_to(body, self._write)

    def _write(self, data: bytes, last: bool) -> None:
        try:
            wait(self._host.submit(WriteHttpBody(data, last=last)))
        except SessionClosedError as error:
            raise BrokenPipeError(error.message) from error
