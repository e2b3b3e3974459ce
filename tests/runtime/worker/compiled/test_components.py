"""Components run in workers: compiled once, within limits, and never what somebody has changed."""

import os
from pathlib import Path

import pytest
import pytest_asyncio

from pie_mlx import Engine
from pie_mlx.errors import LaunchError, ProcessCancelledError, ProcessError
from pie_mlx.runtime.worker.settings import WorkerSettings
from tests.runtime.worker.conftest import launch
from tests.wasm.components import component, wasm

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEND = component(
    '(func (export "run") (param i32 i32) (result i32)'
    "(call $send (local.get 0) (local.get 1)) (call $ok (i32.const 64) (i32.const 4)))",
    imports='(import "pie:core/session" (instance $session (export "send" (func (param "message" string)))))',
    calls={"send": ("session.send", "(param i32 i32)")},
    answer="done",
)
FAIL = component(
    '(func (export "run") (param i32 i32) (result i32) (call $ok (i32.const 64) (i32.const 6)) (drop)'
    "(i32.store (i32.const 16) (i32.const 1)) (i32.const 16))",
    answer="so not",
)
TRAP = component(
    "(func $third_step unreachable) (func $second_step (call $third_step))"
    '(func (export "run") (param i32 i32) (result i32) (call $second_step) (i32.const 0))'
)
LOOP = component('(func (export "run") (param i32 i32) (result i32) (loop $on (br $on)) (i32.const 0))')
GROW = component(
    '(func (export "run") (param i32 i32) (result i32)'
    "(loop $on (br_if $on (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))"
    "(call $ok (i32.const 64) (i32.const 4)))",
    answer="full",
)
WAIT = component(
    '(func (export "run") (param i32 i32) (result i32)'
    "(call $block (call $pollable (call $receive))) (call $ok (i32.const 64) (i32.const 0)))",
    imports="""
      (import "wasi:io/poll@0.2.4" (instance $poll
        (export "pollable" (type $p (sub resource)))
        (export "[method]pollable.block" (func (param "self" (borrow $p))))))
      (alias export $poll "pollable" (type $pollable))
      (import "pie:core/types" (instance $types
        (alias outer 1 $pollable (type $p))
        (export "future-string" (type $f (sub resource)))
        (export "[method]future-string.pollable" (func (param "self" (borrow $f)) (result (own $p))))))
      (alias export $types "future-string" (type $future))
      (import "pie:core/session" (instance $session
        (alias outer 1 $future (type $f))
        (export "receive" (func (result (own $f))))))
    """,
    calls={
        "block": ("poll.[method]pollable.block", "(param i32)"),
        "pollable": ("types.[method]future-string.pollable", "(param i32) (result i32)"),
        "receive": ("session.receive", "(result i32)"),
    },
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tmp_path_factory, pools):
    compiled = tmp_path_factory.mktemp("home") / "compiled"
    limits = WorkerSettings(max_memory_bytes=256 << 20, watchdog_seconds=0.8, compiled_directory=str(compiled))
    async with Engine("pie-tiny", isolation="process", workers=limits) as started:
        yield started


@pytest.fixture
def file(tmp_path):
    """Writes a component and answers its path."""

    def write(text, name="main.wasm"):
        path = tmp_path / name
        path.write_bytes(wasm(text))
        return path

    return write


async def test_a_component_gets_its_input_and_returns_a_value(engine, file):
    heard = []
    process = await engine.launch(file(SEND), {"n": 1}, on_message=heard.append)
    assert await process.result() == "done"
    assert heard == ['{"n": 1}']


async def test_the_error_that_a_component_returns_fails_its_program(engine, file):
    with pytest.raises(ProcessError, match="so not"):
        await engine.run(file(FAIL))


async def test_a_trap_names_the_function_and_prints_the_stack(engine, file):
    launched = await launch(engine, file(TRAP))
    failure = await launched.failure()
    assert str(failure) == "component: wasm `unreachable` instruction executed in 'third_step'"
    assert "third_step\n  in second_step\n" in launched.text("stderr")


async def test_a_component_that_loops_is_ended(engine, file):
    with pytest.raises(ProcessError, match="Watchdog"):
        await engine.run(file(LOOP))


async def test_a_component_gets_no_more_memory_than_its_limit(engine, file):
    assert await engine.run(file(GROW)) == "full"


async def test_memory_with_contents_works_within_the_walls(engine, file):
    memory, filled = (
        '(memory (export "memory") 1)',
        f'(memory (export "memory") 9) (data (i32.const 65536) "{"x" * 300_000}")',
    )
    assert await engine.run(file(component().replace(memory, filled)), {"n": 1}) == '{"n": 1}'


async def test_a_component_that_waits_can_be_cancelled(engine, file):
    launched = await launch(engine, file(WAIT))
    launched.process.cancel("enough")
    with pytest.raises(ProcessCancelledError, match="enough"):
        await launched.process.result()


async def test_a_component_needs_a_process_of_its_own(file):
    async with Engine("pie-tiny") as inline:
        with pytest.raises(LaunchError, match="needs a process of its own"):
            await inline.run(file(SEND))


async def test_a_component_of_another_world_is_refused(engine, file):
    imports = '(import "pie:core/tensor" (instance (export "f" (func))))'
    with pytest.raises(LaunchError, match="imports 'pie:core/tensor', which this engine does not have"):
        await engine.run(file(component(imports=imports)))


async def test_what_is_refused_may_be_imported_but_not_called(engine, file):
    imports = '(import "wasi:sockets/instance-network@0.2.4" (instance $net (export "open" (func))))'
    assert await engine.run(file(component(imports=imports)), {}) == "{}"
    calling = '(func (export "run") (param i32 i32) (result i32) (call $open) (i32.const 16))'
    called = component(calling, imports=imports, calls={"open": ("net.open", "")})
    with pytest.raises(ProcessError, match=r"it called 'open' of 'wasi:sockets/instance-network': .* wasi:http"):
        await engine.run(file(called))


def change(path, *, hidden=False):
    """Flip a bit of a file; `hidden`: as if nothing had happened to it."""
    found, data = os.stat(path), bytearray(Path(path).read_bytes())
    data[-1] ^= 1
    with open(path, "r+b") as opened:
        opened.write(data)
    if hidden:
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


async def test_a_compiled_form_that_was_changed_is_compiled_again(engine, pools, file):
    path = file(SEND)
    location, _ = pools[0].components.get(path)
    change(location.file)
    assert await engine.run(path) == "done"
    assert pools[0].components.get(path)[0] == location


async def test_a_compiled_form_that_changes_under_a_worker_is_not_loaded(engine, pools, file):
    path = file(FAIL)
    location, _ = pools[0].components.get(path)
    change(location.file, hidden=True)
    with pytest.raises(LaunchError, match="its compiled form was changed on disk"):
        await engine.run(path)
