"""WebAssembly components with the unmodified `pie-client` 0.4.0: installed, launched, and served on a port."""

import httpx2
import pytest
from pie_client import Event

from tests.ports import free_port
from tests.server.running import RunningServer
from tests.wasm.components import component, wasm

pytestmark = pytest.mark.timeout(30)
MANIFEST = '[package]\nname = "{name}"\nversion = "0.1.0"\n'
ANSWER = """
(component
  (import "wasi:http/types@0.2.4" (instance $http
    (export "fields" (type $fields (sub resource)))
    (export "outgoing-response" (type $response (sub resource)))
    (export "response-outparam" (type $place (sub resource)))
    (export "incoming-request" (type $request (sub resource)))
    (type $error (variant (case "internal-error" (option string))))
    (export "error-code" (type $code (eq $error)))
    (export "[constructor]fields" (func (result (own $fields))))
    (export "[constructor]outgoing-response" (func (param "headers" (own $fields)) (result (own $response))))
    (export "[method]outgoing-response.set-status-code"
      (func (param "self" (borrow $response)) (param "status" u16) (result (result))))
    (export "[static]response-outparam.set"
      (func (param "place" (own $place)) (param "response" (result (own $response) (error $code)))))))
  (alias export $http "incoming-request" (type $request))
  (alias export $http "response-outparam" (type $place))
  (core module $Memory (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $memory (instantiate $Memory))
  (core func $fields (canon lower (func $http "[constructor]fields")))
  (core func $made (canon lower (func $http "[constructor]outgoing-response")))
  (core func $status (canon lower (func $http "[method]outgoing-response.set-status-code")))
  (core func $set (canon lower (func $http "[static]response-outparam.set")
    (memory $memory "memory") (realloc (func $memory "realloc"))))
  (core module $Main
    (import "http" "fields" (func $fields (result i32)))
    (import "http" "made" (func $made (param i32) (result i32)))
    (import "http" "status" (func $status (param i32 i32) (result i32)))
    (import "http" "set" (func $set (param i32 i32 i32 i32 i32 i32)))
    (func (export "handle") (param $request i32) (param $place i32)
      (local $response i32)
      (local.set $response (call $made (call $fields)))
      (drop (call $status (local.get $response) (i32.const 418)))
      (call $set (local.get $place) (i32.const 0) (local.get $response)
        (i32.const 0) (i32.const 0) (i32.const 0))))
  (core instance $main (instantiate $Main (with "http" (instance
    (export "fields" (func $fields)) (export "made" (func $made))
    (export "status" (func $status)) (export "set" (func $set))))))
  (func $handle (param "request" (own $request)) (param "response-out" (own $place))
    (canon lift (core func $main "handle")))
  (instance $exported (export "handle" (func $handle)))
  (export "wasi:http/incoming-handler@0.2.4" (instance $exported)))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server whose programs run in processes of their own."""
    running = RunningServer(tmp_path_factory.mktemp("home"), isolation="process").start()
    yield running
    running.stop()


@pytest.fixture
def install(client, tmp_path):
    """Installs a component as the published client does."""

    async def install(name, text):
        (tmp_path / f"{name}.wasm").write_bytes(wasm(text))
        (tmp_path / "Pie.toml").write_text(MANIFEST.format(name=name))
        await client.install_program(tmp_path / f"{name}.wasm", tmp_path / "Pie.toml", force_overwrite=True)
        assert await client.check_program(f"{name}@0.1.0", tmp_path / f"{name}.wasm", tmp_path / "Pie.toml")

    return install


async def test_a_component_is_installed_and_launched(client, install):
    await install("echo", component())
    process = await client.launch_process("echo@0.1.0", {"prompt": "hello"})
    assert await process.recv() == (Event.Return, '{"prompt": "hello"}')


async def test_a_component_that_cannot_run_is_refused_when_it_is_launched(client, install):
    await install("odd", component(imports='(import "pie:core/tensor" (instance (export "f" (func))))'))
    event, text = await (await client.launch_process("odd@0.1.0", {})).recv()
    assert event is Event.Error
    assert "imports 'pie:core/tensor', which this engine does not have" in text


async def test_a_component_answers_requests_on_a_port(client, install):
    await install("teapot", ANSWER)
    port = free_port()
    await client.launch_daemon("teapot@0.1.0", port, {})
    async with httpx2.AsyncClient() as web:
        answer = await web.get(f"http://127.0.0.1:{port}/")
    assert (answer.status_code, answer.content) == (418, b"")


async def test_a_component_that_only_answers_requests_is_not_launched(client, install):
    await install("pot", ANSWER)
    event, text = await (await client.launch_process("pot@0.1.0", {})).recv()
    assert (event, "it exports no 'run'" in text) == (Event.Error, True)
