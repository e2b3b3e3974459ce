"""What components reach from real workers: through the proxy to allowed hosts, as all programs."""

import pytest
import pytest_asyncio

from pie_mlx.errors import ProcessError
from pie_mlx.runtime.network.settings import NetworkSettings
from pie_mlx.runtime.sandbox.probe import probe_network
from tests.runtime.network.conftest import serving
from tests.runtime.worker.conftest import bounded_engine
from tests.wasm.components import component, wasm

pytestmark = pytest.mark.asyncio(loop_scope="module")

FETCH = component(
    """
    (func $answer (param $is_error i32) (param $place i32) (param $length i32) (result i32)
      (drop (call $ok (local.get $place) (local.get $length)))
      (i32.store (i32.const 16) (local.get $is_error))
      (i32.const 16))
    (func (export "run") (param $place i32) (param $length i32) (result i32)
      (local $request i32) (local $future i32) (local $stream i32)
      (local.set $request (call $request (call $fields)))
      (drop (call $scheme (local.get $request) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0)))
      (drop (call $authority (local.get $request)  ;; what is between {"host": " and "}
        (i32.const 1) (i32.add (local.get $place) (i32.const 10)) (i32.sub (local.get $length) (i32.const 12))))
      (call $handle (local.get $request) (i32.const 0) (i32.const 0) (i32.const 256))
      (if (i32.load8_u (i32.const 256))
        (then (return (call $answer (i32.const 1) (i32.load (i32.const 268)) (i32.load (i32.const 272))))))
      (local.set $future (i32.load (i32.const 260)))
      (call $block (call $subscribe (local.get $future)))
      (call $get (local.get $future) (i32.const 256))
      (if (i32.load8_u (i32.const 264))
        (then (return (call $answer (i32.const 1) (i32.load (i32.const 276)) (i32.load (i32.const 280))))))
      (call $consume (i32.load (i32.const 268)) (i32.const 256))
      (call $stream (i32.load (i32.const 260)) (i32.const 256))
      (call $read (i32.load (i32.const 260)) (i64.const 1000) (i32.const 256))
      (call $answer (i32.const 0) (i32.load (i32.const 260)) (i32.load (i32.const 264))))
    """,
    imports="""
      (import "wasi:io/poll@0.2.4" (instance $poll
        (export "pollable" (type $p (sub resource)))
        (export "[method]pollable.block" (func (param "self" (borrow $p))))))
      (alias export $poll "pollable" (type $pollable))
      (import "wasi:io/streams@0.2.4" (instance $streams
        (export "input-stream" (type $s (sub resource)))
        (export "[method]input-stream.blocking-read"
          (func (param "self" (borrow $s)) (param "len" u64) (result (result (list u8)))))))
      (alias export $streams "input-stream" (type $stream))
      (import "wasi:http/types@0.2.4" (instance $http
        (alias outer 1 $pollable (type $p))
        (alias outer 1 $stream (type $s))
        (export "fields" (type $fields (sub resource)))
        (export "outgoing-request" (type $request (sub resource)))
        (export "request-options" (type $options (sub resource)))
        (export "future-incoming-response" (type $future (sub resource)))
        (export "incoming-response" (type $response (sub resource)))
        (export "incoming-body" (type $body (sub resource)))
        (type $schemes (variant (case "HTTP") (case "HTTPS") (case "other" string)))
        (export "scheme" (type $scheme (eq $schemes)))
        (type $codes (variant (case "internal-error" (option string))))
        (export "error-code" (type $code (eq $codes)))
        (export "[constructor]fields" (func (result (own $fields))))
        (export "[constructor]outgoing-request" (func (param "headers" (own $fields)) (result (own $request))))
        (export "[method]outgoing-request.set-scheme"
          (func (param "self" (borrow $request)) (param "scheme" (option $scheme)) (result (result))))
        (export "[method]outgoing-request.set-authority"
          (func (param "self" (borrow $request)) (param "authority" (option string)) (result (result))))
        (export "[method]future-incoming-response.subscribe"
          (func (param "self" (borrow $future)) (result (own $p))))
        (export "[method]future-incoming-response.get" (func (param "self" (borrow $future))
          (result (option (result (result (own $response) (error $code)))))))
        (export "[method]incoming-response.consume"
          (func (param "self" (borrow $response)) (result (result (own $body)))))
        (export "[method]incoming-body.stream"
          (func (param "self" (borrow $body)) (result (result (own $s)))))))
      (alias export $http "outgoing-request" (type $request))
      (alias export $http "request-options" (type $options))
      (alias export $http "future-incoming-response" (type $future))
      (alias export $http "error-code" (type $code))
      (import "wasi:http/outgoing-handler@0.2.4" (instance $outgoing
        (alias outer 1 $request (type $r))
        (alias outer 1 $options (type $o))
        (alias outer 1 $future (type $f))
        (alias outer 1 $code (type $c))
        (export "request" (type $request (eq $r)))
        (export "options" (type $options (eq $o)))
        (export "future" (type $future (eq $f)))
        (export "code" (type $code (eq $c)))
        (export "handle" (func (param "request" (own $request)) (param "options" (option (own $options)))
          (result (result (own $future) (error $code)))))))
    """,
    calls={
        "block": ("poll.[method]pollable.block", "(param i32)"),
        "read": ("streams.[method]input-stream.blocking-read", "(param i32 i64 i32)"),
        "fields": ("http.[constructor]fields", "(result i32)"),
        "request": ("http.[constructor]outgoing-request", "(param i32) (result i32)"),
        "scheme": ("http.[method]outgoing-request.set-scheme", "(param i32 i32 i32 i32 i32) (result i32)"),
        "authority": ("http.[method]outgoing-request.set-authority", "(param i32 i32 i32 i32) (result i32)"),
        "subscribe": ("http.[method]future-incoming-response.subscribe", "(param i32) (result i32)"),
        "get": ("http.[method]future-incoming-response.get", "(param i32 i32)"),
        "consume": ("http.[method]incoming-response.consume", "(param i32 i32)"),
        "stream": ("http.[method]incoming-body.stream", "(param i32 i32)"),
        "handle": ("outgoing.handle", "(param i32 i32 i32 i32)"),
    },
)
"""Gets the first page of the host that its input names."""


@pytest.fixture(scope="module")
def fetch(tmp_path_factory):
    """The component, as a file."""
    file = tmp_path_factory.mktemp("fetch") / "main.wasm"
    file.write_bytes(wasm(FETCH))
    return file


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Where both engines keep its compiled form."""
    return str(tmp_path_factory.mktemp("home") / "compiled")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def networked(compiled):
    """An engine whose programs reach loopback, through their proxies only."""
    if not (report := probe_network()).holds:
        pytest.skip(f"programs get past their proxy here: {report.reason}")
    network = NetworkSettings(("127.0.0.1",))
    async with bounded_engine(sandbox="best-effort", network=network, compiled_directory=compiled) as running:
        yield running


async def test_an_allowed_host_is_reached(networked, fetch):
    async with serving() as (site, port):
        assert await networked.run(fetch, {"host": f"127.0.0.1:{port}"}) == "hi"
        assert site.head.startswith(b"GET / HTTP/1.1\r\n")


async def test_a_refused_host_is_told_with_the_key(networked, fetch):
    async with serving(host="127.0.0.2") as (site, port):
        assert "[runtime] network_allowed_hosts" in await networked.run(fetch, {"host": f"127.0.0.2:{port}"})
        assert site.visits == 0


async def test_without_a_network_the_key_is_told(fetch, compiled):
    async with bounded_engine(compiled_directory=compiled) as engine:
        with pytest.raises(ProcessError, match=r"the network is off: set \[runtime\] allow_network = true"):
            await engine.run(fetch, {"host": "127.0.0.1:9"})
