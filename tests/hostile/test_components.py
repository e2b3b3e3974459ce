"""Components that reach for what is not theirs, each in many ways: what programs in other languages do through the
system, they can only do through what they import."""

import re

import pytest

from pie_mlx.events import ProcessFailed
from tests.hostile.launching import ending, failure, message, stranger
from tests.hostile.target import Target
from tests.runtime.sandbox.conftest import complete_walls, walls  # noqa: F401 - fixtures
from tests.wasm.components import component, wasm

pytestmark = [pytest.mark.usefixtures("complete_walls"), pytest.mark.timeout(120)]
BOUNDED = '[runtime]\nsandbox = "required"\nmax_memory_mb = 256\nscratch_max_mb = 1\n'

FILES = """
  (import "wasi:filesystem/types@0.2.4" (instance $files
    (export "descriptor" (type $d (sub resource)))
    (type $codes (enum
      "access" "bad-descriptor" "busy" "cross-device" "exist" "file-too-large" "insufficient-memory"
      "insufficient-space" "invalid" "io" "is-directory" "loop" "name-too-long" "no-entry" "not-directory" "not-empty"
      "not-permitted" "read-only" "too-many-links"))
    (export "error-code" (type $code (eq $codes)))
    (type $path_flags_ (flags "symlink-follow"))
    (export "path-flags" (type $path_flags (eq $path_flags_)))
    (type $open_flags_ (flags "create" "directory" "exclusive" "truncate"))
    (export "open-flags" (type $open_flags (eq $open_flags_)))
    (type $flags_ (flags "read" "write" "file-integrity-sync" "data-integrity-sync" "requested-write-sync"
      "mutate-directory"))
    (export "descriptor-flags" (type $flags (eq $flags_)))
    (export "[method]descriptor.open-at" (func (param "self" (borrow $d)) (param "path-flags" $path_flags)
      (param "path" string) (param "open-flags" $open_flags) (param "flags" $flags)
      (result (result (own $d) (error $code)))))
    (export "[method]descriptor.write" (func (param "self" (borrow $d)) (param "buffer" (list u8)) (param "offset" u64)
      (result (result u64 (error $code)))))
    (export "[method]descriptor.link-at" (func (param "self" (borrow $d)) (param "flags" $path_flags)
      (param "old" string) (param "new-descriptor" (borrow $d)) (param "new" string) (result (result (error $code)))))
    (export "[method]descriptor.rename-at" (func (param "self" (borrow $d)) (param "old" string)
      (param "new-descriptor" (borrow $d)) (param "new" string) (result (result (error $code)))))
    (export "[method]descriptor.symlink-at" (func (param "self" (borrow $d)) (param "old" string) (param "new" string)
      (result (result (error $code)))))
    (export "[method]descriptor.unlink-file-at" (func (param "self" (borrow $d)) (param "path" string)
      (result (result (error $code)))))
    (export "[method]descriptor.create-directory-at" (func (param "self" (borrow $d)) (param "path" string)
      (result (result (error $code)))))
    (export "[method]descriptor.readlink-at" (func (param "self" (borrow $d)) (param "path" string)
      (result (result string (error $code)))))))
  (alias export $files "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.4" (instance $preopens
    (alias outer 1 $descriptor (type $d))
    (export "get-directories" (func (result (list (tuple (own $d) string)))))))
"""
FILE_CALLS = {
    "open": ("files.[method]descriptor.open-at", "(param i32 i32 i32 i32 i32 i32 i32)"),
    "write": ("files.[method]descriptor.write", "(param i32 i32 i32 i64 i32)"),
    "link": ("files.[method]descriptor.link-at", "(param i32 i32 i32 i32 i32 i32 i32 i32)"),
    "rename": ("files.[method]descriptor.rename-at", "(param i32 i32 i32 i32 i32 i32 i32)"),
    "symlink": ("files.[method]descriptor.symlink-at", "(param i32 i32 i32 i32 i32 i32)"),
    "unlink": ("files.[method]descriptor.unlink-file-at", "(param i32 i32 i32 i32)"),
    "mkdir": ("files.[method]descriptor.create-directory-at", "(param i32 i32 i32 i32)"),
    "readlink": ("files.[method]descriptor.readlink-at", "(param i32 i32 i32 i32)"),
    "directories": ("preopens.get-directories", "(param i32)"),
}
DIRECTORY = "(func $scratch (result i32) (call $directories (i32.const 256)) (i32.load (i32.load (i32.const 256))))"

REACH = component(
    DIRECTORY
    + """
    (global $worked (mut i32) (i32.const 0))
    (global $tried (mut i32) (i32.const 0))
    (func $count  ;; the result at 256
      (global.set $tried (i32.add (global.get $tried) (i32.const 1)))
      (if (i32.eqz (i32.load8_u (i32.const 256)))
        (then (global.set $worked (i32.add (global.get $worked) (i32.const 1))))))
    (func $attack (param $d i32) (param $path i32) (param $length i32)
      (local $follow i32)
      (loop $twice
        (call $open (local.get $d) (local.get $follow) (local.get $path) (local.get $length)
          (i32.const 0) (i32.const 1) (i32.const 256))
        (call $count)
        (call $open (local.get $d) (local.get $follow) (local.get $path) (local.get $length)
          (i32.const 9) (i32.const 3) (i32.const 256))
        (call $count)
        (call $link (local.get $d) (local.get $follow) (local.get $path) (local.get $length)
          (local.get $d) (i32.const 64) (i32.const 1) (i32.const 256))
        (call $count)
        (local.set $follow (i32.add (local.get $follow) (i32.const 1)))
        (br_if $twice (i32.lt_u (local.get $follow) (i32.const 2))))
      (call $rename (local.get $d) (local.get $path) (local.get $length)
        (local.get $d) (i32.const 64) (i32.const 1) (i32.const 256))
      (call $count)
      (call $unlink (local.get $d) (local.get $path) (local.get $length) (i32.const 256))
      (call $count)
      (call $mkdir (local.get $d) (local.get $path) (local.get $length) (i32.const 256))
      (call $count)
      (call $readlink (local.get $d) (local.get $path) (local.get $length) (i32.const 256))
      (call $count)
      ;; A link to it is of the program's own: what counts is what it leads to.
      (call $symlink (local.get $d) (local.get $path) (local.get $length) (i32.const 65) (i32.const 1) (i32.const 256))
      (call $open (local.get $d) (i32.const 1) (i32.const 65) (i32.const 1)
        (i32.const 0) (i32.const 1) (i32.const 256))
      (call $count)
      (call $open (local.get $d) (i32.const 1) (i32.const 65) (i32.const 1)
        (i32.const 8) (i32.const 2) (i32.const 256))
      (call $count)
      (call $unlink (local.get $d) (i32.const 65) (i32.const 1) (i32.const 256)))
    (func (export "run") (param $place i32) (param $length i32) (result i32)
      (local $d i32)
      (local.set $d (call $scratch))
      ;; What is between {"path": " and "}: an absolute path, the same from above, and through a directory of its own.
      (local.set $place (i32.add (local.get $place) (i32.const 10)))
      (local.set $length (i32.sub (local.get $length) (i32.const 12)))
      (call $attack (local.get $d) (local.get $place) (local.get $length))
      (call $mkdir (local.get $d) (i32.const 66) (i32.const 1) (i32.const 256))
      (memory.copy (i32.const 1024) (i32.const 68) (i32.const 60))
      (memory.copy (i32.const 1084) (local.get $place) (local.get $length))
      (call $attack (local.get $d) (i32.const 1024) (i32.add (local.get $length) (i32.const 60)))
      (memory.copy (i32.const 1022) (i32.const 66) (i32.const 2))
      (call $attack (local.get $d) (i32.const 1022) (i32.add (local.get $length) (i32.const 62)))
      (i32.store8 (i32.const 512) (i32.add (i32.const 48) (global.get $worked)))
      (i32.store8 (i32.const 513) (i32.const 32))
      (i32.store8 (i32.const 514) (i32.add (i32.const 48) (i32.div_u (global.get $tried) (i32.const 10))))
      (i32.store8 (i32.const 515) (i32.add (i32.const 48) (i32.rem_u (global.get $tried) (i32.const 10))))
      (call $ok (i32.const 512) (i32.const 4)))
    """,
    imports=FILES,
    calls=FILE_CALLS,
    answer="nlf/" + "../" * 20,
)
"""Reaches for a file in many ways; answers how many worked, and how many it has tried."""


SLEEP = """
  (import "wasi:io/poll@0.2.4" (instance $poll
    (export "pollable" (type $p (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $p))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.4" (instance $clock
    (alias outer 1 $pollable (type $p))
    (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
"""
WAYS = {
    "trap": ("unreachable", "unreachable"),
    "stack": ("(drop (call $recurse (i32.const 0)))", "call stack exhausted"),
    "memory of others": ("(drop (i32.load (i32.const 0x7fffffff)))", "out of bounds memory access"),
    "odd result": ("(return (i32.const 0x7ffffff0))", "pointer out of bounds"),
    "odd text": ("(call $send (i32.const 0x7ffffff0) (i32.const 1000))", "string pointer/length out of bounds"),
    "no text": ("(call $send (i32.const 124) (i32.const 1))", "invalid utf-8"),
    "odd handle": (
        "(call $unlink (i32.const 12345) (i32.const 64) (i32.const 1) (i32.const 256))",
        "unknown handle index 12345",
    ),
    "large call": (
        "(call $random (i64.const 0x7fffffffffffffff) (i32.const 256))",
        "random: 9223372036854775807 bytes at a time",
    ),
    "exit": ("(call $exit (i32.const 1))", "1"),
    "sockets": ("(call $socket)", "it called 'open' of 'wasi:sockets/instance-network'"),
    "memory": ("(call $grow) unreachable", "Memory limit of 256 MiB exceeded|unreachable"),
    "folders": ("(call $folders) (call $wait)", "Scratch limit|unreachable"),
    "deleted files": (
        "(call $hide) (call $hide) (call $hide) (call $wait)",
        "Scratch limit of 1 MiB exceeded|unreachable",
    ),
    "loop": ("(call $send (i32.const 64) (i32.const 4)) (call $loop)", ""),
}
"""What a component does to break, and the pattern of what its client is told of it."""
LETTERS = {way: chr(ord("a") + number) for number, way in enumerate(WAYS)}
"""How its input names a way."""
BREAK = component(
    DIRECTORY
    + """
    (func $recurse (param $n i32) (result i32)
      (i32.add (call $recurse (i32.add (local.get $n) (i32.const 1))) (call $recurse (local.get $n))))
    (func $loop (loop $on (br $on)))
    (func $must (if (i32.load8_u (i32.const 256)) (then unreachable)))  ;; what is refused early never reaches the limit
    (func $wait (call $block (call $sleep (i64.const 30_000_000_000))))
    (func $grow (local $place i32)  ;; as far as it goes, and touches all of it; 256 MiB are its limit
      (loop $on (br_if $on (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
      (if (i32.gt_u (memory.size) (i32.const 4096)) (then (call $exit (i32.const 1))))
      (loop $more
        (i32.store (local.get $place) (i32.const 1))
        (local.set $place (i32.add (local.get $place) (i32.const 4096)))
        (br_if $more (i32.lt_u (local.get $place) (i32.mul (memory.size) (i32.const 65536))))))
    (func $folders (local $d i32) (local $n i32) (local $rest i32) (local $length i32)
      (local.set $d (call $scratch))
      (loop $on
        (local.set $rest (local.get $n))
        (local.set $length (i32.const 0))
        (loop $letter
          (i32.store8 (i32.add (i32.const 1024) (local.get $length))
            (i32.add (i32.const 97) (i32.rem_u (local.get $rest) (i32.const 26))))
          (local.set $length (i32.add (local.get $length) (i32.const 1)))
          (local.set $rest (i32.div_u (local.get $rest) (i32.const 26)))
          (br_if $letter (local.get $rest)))
        (call $mkdir (local.get $d) (i32.const 1024) (local.get $length) (i32.const 256))
        (call $must)
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $on (i32.lt_u (local.get $n) (i32.const 8000)))))
    (func $hide (local $file i32) (local $offset i32)  ;; half a MiB in a file that has no name any more
      (call $open (call $scratch) (i32.const 0) (i32.const 64) (i32.const 1)
        (i32.const 1) (i32.const 3) (i32.const 256))
      (local.set $file (i32.load (i32.const 260)))
      (call $unlink (call $scratch) (i32.const 64) (i32.const 1) (i32.const 256))
      (loop $on
        (call $write (local.get $file) (i32.const 0) (i32.const 65536)
          (i64.extend_i32_u (local.get $offset)) (i32.const 256))
        (call $must)
        (local.set $offset (i32.add (local.get $offset) (i32.const 65536)))
        (br_if $on (i32.lt_u (local.get $offset) (i32.const 0x80000)))))
    (func (export "run") (param $place i32) (param $length i32) (result i32)
      (local $letter i32)
      (local.set $letter (i32.load8_u offset=9 (local.get $place)))
    """
    + "".join(
        f"(if (i32.eq (local.get $letter) (i32.const {ord(LETTERS[way])})) (then {act}))\n"
        for way, (act, _) in WAYS.items()
    )
    + "(call $ok (i32.const 64) (i32.const 4)))",
    imports=f"""
      {FILES} {SLEEP}
      (import "pie:core/session" (instance $session (export "send" (func (param "message" string)))))
      (import "wasi:random/random@0.2.4" (instance $random
        (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
      (import "wasi:cli/exit@0.2.4" (instance $exit (export "exit" (func (param "status" (result))))))
      (import "wasi:sockets/instance-network@0.2.4" (instance $net (export "open" (func))))
    """,
    calls=FILE_CALLS
    | {
        "block": ("poll.[method]pollable.block", "(param i32)"),
        "sleep": ("clock.subscribe-duration", "(param i64) (result i32)"),
        "send": ("session.send", "(param i32 i32)"),
        "random": ("random.get-random-bytes", "(param i64 i32)"),
        "exit": ("exit.exit", "(param i32)"),
        "socket": ("net.open", ""),
    },
    answer="done" + " " * 56 + r"\ff",
)
"""Breaks in the way that its input names by a letter."""


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """An engine whose programs have little of everything."""
    running = Target(tmp_path_factory.mktemp("hostile") / "home", config=BOUNDED)
    yield running
    running.clean_up()


@pytest.fixture
def wasm_file(tmp_path):
    """Writes a component and answers its path."""

    def write(text, name="hostile"):
        file = tmp_path / f"{name}.wasm"
        file.write_bytes(wasm(text))
        return file

    return write


async def test_files_of_others_are_neither_read_nor_changed(target, tmp_path, wasm_file):
    secret = tmp_path / "secret"
    secret.write_text("PRIVATE KEY")
    async with stranger(target, "webassembly") as mallory:
        with target.stays_healthy():
            assert await (await mallory.launch_file(wasm_file(REACH), path=str(secret))).result() == "0 36"
    assert secret.read_text() == "PRIVATE KEY"


async def test_whatever_breaks_in_a_component_is_told_and_breaks_nothing_else(target, wasm_file):
    file = wasm_file(BREAK)
    async with stranger(target, "webassembly") as mallory:
        with target.stays_healthy(growth_bytes=256 << 20):
            broken = {way: await mallory.launch_file(file, way=LETTERS[way]) for way in WAYS if way != "loop"}
            for way, process in broken.items():
                last = await ending(process)
                assert isinstance(last, ProcessFailed), way
                assert re.search(WAYS[way][1], last.message), (way, last)


async def test_a_component_that_computes_is_ended_as_any_program(target, wasm_file):
    async with stranger(target, "webassembly") as mallory:
        process = await mallory.launch_file(wasm_file(BREAK), way=LETTERS["loop"])
        assert await message(process) == "done"
        with target.stays_healthy():
            await process.terminate()
            assert (await failure(process))[0] == "ProcessCancelledError"


async def test_a_component_of_many_instances_is_refused_before_it_runs(target, wasm_file):
    many = "(core module $One (memory 1))" + "(core instance (instantiate $One))" * 2000
    async with stranger(target, "webassembly") as mallory:
        with target.stays_healthy():
            told = await failure(await mallory.launch_file(wasm_file(component(imports=many))))
    assert (told[0], "instances count exceeds limit" in told[1]) == ("LaunchError", True), told
