"""Programs in JavaScript and TypeScript run in confined workers, and end as programs in Python do."""

import contextlib
import os
import signal

import pytest

from pie_mlx.errors import InvalidTypeError, LaunchError, ModelNotFoundError, ProcessCancelledError, ProcessError
from pie_mlx.events import ProcessFailed
from tests.runtime.network.conftest import until
from tests.runtime.worker.conftest import bounded_engine, launch, launched_until_ready

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("name", ["main.js", "main.mjs", "main.ts", "any-other.mts"])
async def test_an_input_becomes_a_result(engine, program, name):
    path = program("export async function main(input) { return { doubled: input.n * 2 }; }", name)
    assert [await engine.run(path, {"n": n}) for n in (1, 2, 3)] == [{"doubled": n * 2} for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("'as it is'", "as it is"),
        ("undefined", None),
        ("null", None),
        ("[1.5, null]", [1.5, None]),
        ("'\\ud800'", "\ufffd"),
    ],
)
async def test_values_arrive_as_json_and_text_as_it_is(engine, program, value, expected):
    assert await engine.run(program(f"export const main = async () => {value};")) == expected


@pytest.mark.parametrize("value", ["10n", "() => 1", "new Array(1_000_001).join('x') + 'x'"])
async def test_a_value_that_cannot_be_sent_is_refused(engine, program, value):
    with pytest.raises((InvalidTypeError, ProcessError), match="return value"):
        await engine.run(program(f"export async function main() {{ return {value}; }}"))


async def test_types_are_stripped_and_traces_name_lines_of_the_author(engine, program):
    path = program(
        """
        interface Input { n: number }
        import { half } from './half.ts';

        export async function main(input: Input): Promise<number> {
          return half(input.n);
        }
        """,
        "main.ts",
        half_ts="type N = number;\n\nexport function half(n: N): number {\n  throw new RangeError('odd');\n}\n",
    )
    for _ in range(2):  # the second is stripped already
        launched = await launch(engine, path, {"n": 3})
        error = await launched.failure()
        assert (str(error), launched.ends()[0].error_type) == ("odd", "RangeError")
        trace = launched.text("stderr")
        assert f"{path}/half.ts:4" in trace
        assert f"{path}/main.ts:6" in trace
        assert "node:internal" not in trace
        assert "pie_mlx" not in trace


async def test_console_writes_to_the_streams_in_order_with_messages(engine, program):
    path = program("""
        import { session } from 'inferlet';
        export async function main() {
          console.log('out', { a: 1 });
          console.error('err');
          session.send('between');
          console.info('%s!', 'later');
          process.stdout.write(Buffer.from('bytes'));
        }
        """)
    launched = await launch(engine, path)
    await launched.process.result()
    assert launched.text("stdout") == "out { a: 1 }\nlater!\nbytes"
    assert launched.text("stderr") == "err\n"
    assert launched.messages() == ["between"]


async def test_the_sdk_is_there_under_both_names(engine, program):
    path = program("""
        import { runtime } from 'inferlet';
        import * as published from '@pie-project/inferlet';
        export const main = async () => [runtime.username(), published.runtime === runtime];
        """)
    assert (await engine.run(path))[1] is True


async def test_an_error_of_the_engine_keeps_its_class(engine, program):
    path = program("import { Model } from 'inferlet';\nexport const main = async () => Model.load('nothing');\n")
    with pytest.raises(ModelNotFoundError):
        await engine.run(path)


async def test_a_rejection_that_nobody_awaits_fails_the_run_with_its_place(engine, program):
    path = program("""
        export async function main() {
          (async () => { throw new TypeError('left alone'); })();
          await new Promise((resolve) => setTimeout(resolve, 60_000));
        }
        """)
    launched = await launch(engine, path)
    assert "left alone" in str(await launched.failure())
    assert f"{path}:3" in launched.text("stderr")


async def test_waiting_for_nothing_ends_with_a_reason(engine, program):
    with pytest.raises(ProcessError, match="awaits what cannot happen"):
        await engine.run(program("export const main = () => new Promise(() => {});"))


@pytest.mark.parametrize(("status", "ends"), [("0", None), ("3", "SystemExit")])
async def test_a_program_may_exit_early(engine, program, status, ends):
    launched = await launch(engine, program(f"export const main = async () => process.exit({status});"))
    await launched.process.outcome()
    assert getattr(launched.ends()[0], "error_type", None) == ends


async def test_a_cancelled_program_runs_its_finally_blocks(engine, program):
    path = program("""
        import { session } from 'inferlet';
        export async function main() {
          session.send('ready');
          try { await session.receive(); } finally { console.log('tidied'); }
        }
        """)
    launched, _ = await launched_until_ready(engine, path)
    launched.process.cancel("enough")
    error = await launched.failure()
    assert isinstance(error, ProcessCancelledError)
    assert launched.text("stdout") == "tidied\n"


async def test_a_killed_node_is_reported(engine, program):
    path = program("""
        import { session } from 'inferlet';
        export async function main() { session.send(process.pid); for (;;); }
        """)
    launched, pid = await launched_until_ready(engine, path)
    os.kill(int(pid), signal.SIGKILL)
    assert "killed by SIGKILL" in str(await launched.failure())


async def test_memory_is_bounded(engine, program):
    path = program("export async function main() { const all = []; for (;;) all.push(new Array(10_000).fill({})); }")
    with pytest.raises(ProcessError, match="Memory limit of 256 MiB exceeded"):
        await engine.run(path)


async def test_buffers_are_bounded(engine, program):
    path = program("""
        export async function main() {
          const all = [];
          for (;;) all.push(Buffer.alloc(16 << 20, 1));
        }
        """)
    with pytest.raises(ProcessError, match="Memory limit of 256 MiB exceeded"):
        await engine.run(path)


REFUSED = {
    "an enum": ("export enum A { x }\nexport async function main() {}", "main.ts", r"main\.ts:1: TypeScript enum"),
    "a parameter property": (
        "export async function main() {}\nclass A { constructor(private x: number) {} }",
        "main.ts",
        r"main\.ts:2: TypeScript parameter property",
    ),
    "CommonJS": (
        "const { runtime } = require('inferlet');\nmodule.exports = { main: async () => 1 };",
        "main.js",
        "it is CommonJS: require is not defined",
    ),
    "no export": ("async function main() {}", "main.js", r"no 'export async function main\(input\)'"),
    "a syntax error": ("export async function main() {\n  return 1 +;\n}", "main.js", r"main\.js:2: Unexpected token"),
    "a name that a module lacks": (
        "import { Nothing } from 'inferlet';\nexport async function main() {}",
        "main.js",
        r"main\.js:1: .*does not provide an export named 'Nothing'",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_what_cannot_run_is_refused_with_its_place(engine, program, what):
    source, name, problem = REFUSED[what]
    with pytest.raises(LaunchError, match=problem) as raised:
        await engine.run(program(source, name))
    assert raised.value.hint


async def test_a_missing_module_is_named(engine, program):
    launched = await launch(engine, program("import './gone.js';\nexport async function main() {}"))
    assert "gone.js" in str(await launched.failure())
    assert isinstance(launched.ends()[0], ProcessFailed)


async def test_the_death_of_waiting_workers_goes_unnoticed(pools, program):
    path = program("export const main = async () => process.pid;")
    async with bounded_engine(sandbox="required", warm_workers=2) as engine:
        await engine.run(path)
        (pool,) = pools[-1:]
        waiting = list[int]()

        def are_waiting():
            waiting[:] = [pid for pid in pool.idle_process_ids() if "--permission" in command(pid)]
            return waiting

        await until(are_waiting)
        for pid in waiting:
            os.kill(pid, signal.SIGKILL)
        await until(lambda: not set(waiting) & set(pool.idle_process_ids()))
        assert await engine.run(path) not in waiting


def command(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline") as file:
        return file.read()
    return ""
