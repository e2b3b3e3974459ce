"""Components reach what their proxy allows, through the proxy."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from pie_mlx.wasm.binding.writers import Ok, WitError
from pie_mlx.wasm.wasi.http.bodies import IncomingBody, OutgoingBody
from pie_mlx.wasm.wasi.http.fields import Fields
from pie_mlx.wasm.wasi.http.outgoing import OutgoingRequest, RequestOptions, handle


class Proxy(BaseHTTPRequestHandler):
    """Answers every request of a proxy's client with what it was asked."""

    def do_POST(self):
        data = self.rfile.read(int(self.headers["content-length"]))
        answer = f"{self.path} {self.headers['x-name']} {data.decode()}".encode()
        self.send_response(302)
        self.send_header("location", "http://elsewhere/")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def proxy(monkeypatch):
    server = HTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.delenv("no_proxy", raising=False)
    yield
    server.shutdown()
    thread.join()
    server.server_close()


def posted(text):
    """A request whose body has been written."""
    request = OutgoingRequest(Fields.from_list([("X-Name", b"ada")]))
    request.set_method(("post", None))
    request.set_scheme(("HTTP", None))
    request.set_authority("example.org")
    request.set_path_with_query("/a?b=1")
    body = request.body()
    future = handle(request, RequestOptions())
    assert future.get() is None
    body.write().write(text)
    OutgoingBody.finish(body, None)
    return future


def body_of(response):
    """All of it, up to the end of its stream."""
    stream, found = response.consume().stream(), []
    with contextlib.suppress(WitError):
        found.extend(iter(lambda: stream.blocking_read(5), b""))
    return b"".join(found)


def test_a_request_goes_through_the_proxy_and_its_answer_is_not_changed(proxy):
    future = posted(b"hello")
    future.subscribe().block()
    answer = future.get()
    assert isinstance(answer, Ok)
    assert answer.value.status() == 302
    assert answer.value.headers().get("Location") == [b"http://elsewhere/"]
    assert body_of(answer.value) == b"http://example.org/a?b=1 ada hello"
    assert isinstance(future.get(), WitError)


def test_an_answer_has_one_body_and_no_trailers(proxy):
    future = posted(b"x")
    future.subscribe().block()
    response = future.get().value
    body = response.consume()
    with pytest.raises(WitError):
        response.consume()
    trailers = IncomingBody.finish(body)
    assert trailers.subscribe().ready()
    assert trailers.get().value is None


def test_without_a_network_a_request_is_refused(monkeypatch):
    monkeypatch.delenv("HTTP_PROXY", raising=False)
    with pytest.raises(WitError) as raised:
        handle(OutgoingRequest(Fields()), None)
    assert raised.value.value == ("internal-error", "the network is off: set [runtime] allow_network = true")


@pytest.mark.parametrize(("scheme", "authority"), [(("other", "file"), "etc"), (("HTTP", None), None), (None, "a b\n")])
def test_what_is_no_url_is_refused(proxy, scheme, authority):
    request = OutgoingRequest(Fields())
    request.set_scheme(scheme)
    request.set_authority(authority)
    try:
        future = handle(request, None)
        future.subscribe().block()
        outcome = future.get().value
    except WitError as error:
        outcome = error
    assert isinstance(outcome, WitError)


def test_headers_are_checked_and_those_of_the_connection_are_ours():
    fields = Fields()
    fields.append("Accept", b"a")
    fields.append("accept", b"b")
    assert fields.get("ACCEPT") == [b"a", b"b"]
    copy = fields.clone()
    copy.set("accept", [b"c"])
    assert (copy.entries(), fields.has("accept")) == ([("accept", b"c")], True)
    for name, code in (("a b", "invalid-syntax"), ("Host", "forbidden")):
        with pytest.raises(WitError, match=code):
            fields.append(name, b"")
    with pytest.raises(WitError, match="invalid-syntax"):
        fields.append("a", b"\r\n")
