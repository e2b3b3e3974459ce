"""What programs in JavaScript reach: their files, hosts by the policy, children and messages in any language."""

import pytest
import pytest_asyncio

from pie_mlx.errors import LaunchError, ProcessError
from pie_mlx.runtime.network.settings import NetworkSettings
from pie_mlx.runtime.sandbox.probe import probe_network
from tests.runtime.network.conftest import serving
from tests.runtime.worker.conftest import bounded_engine, ended_by, launch

pytestmark = pytest.mark.asyncio(loop_scope="module")

FETCH = """
export async function main({ url }) {
  try {
    const answer = await fetch(url);
    return `${answer.status} ${await answer.text()}`;
  } catch (error) {
    return `${error.message}: ${error.cause?.message ?? ''}`;
  }
}
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def networked():
    """An engine whose programs reach loopback."""
    if not probe_network().holds:
        pytest.skip("programs get past their proxy here")
    async with bounded_engine(sandbox="required", network=NetworkSettings(("127.0.0.1",))) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lasting(tmp_path_factory):
    """An engine whose programs keep files."""
    directory = str(tmp_path_factory.mktemp("scratch"))
    async with bounded_engine(sandbox="required", scratch_directory=directory) as running:
        yield running


async def test_fetch_goes_through_the_proxy_to_allowed_hosts_only(networked, program):
    path = program(FETCH)
    async with serving() as (_, port):
        for _ in range(2):  # the second finds a waiting worker
            assert await networked.run(path, {"url": f"http://127.0.0.1:{port}/"}) == "200 hi"
        refused = await networked.run(path, {"url": f"http://127.0.0.2:{port}/"})
    assert "200" not in refused


async def test_without_a_network_fetch_fails(engine, program):
    assert "fetch failed" in await engine.run(program(FETCH), {"url": "http://127.0.0.1:9/"})


SCRATCH = """
import fs from 'node:fs';
import { appendFile, readdir } from 'node:fs/promises';
export async function main({ text }) {
  await appendFile('/scratch/notes', text);
  fs.mkdirSync('/scratch/folder', { recursive: true });
  fs.copyFileSync('/scratch/notes', '/scratch/folder/copy');
  fs.chmodSync('/scratch/notes', 0o600);
  try {
    fs.readFileSync('/scratch/gone');
  } catch (error) {
    var gone = error.path;
  }
  return [fs.readFileSync('notes', 'utf8'), await readdir('/scratch'), fs.realpathSync('.'), gone];
}
"""


async def test_files_in_scratch_outlive_the_program(lasting, program):
    path = program(SCRATCH)
    await lasting.run(path, {"text": "a"})
    assert await lasting.run(path, {"text": "b"}) == [
        "ab", ["folder", "notes"], "/scratch", "/scratch/gone",
    ]  # fmt: skip


async def test_without_files_scratch_says_what_to_do(engine, program):
    launched = await launch(engine, program(SCRATCH), {"text": "a"})
    assert "allow_fs = true" in str(await launched.failure())


async def test_a_file_that_would_be_lost_is_told(engine, program):
    path = program("import fs from 'node:fs';\nexport const main = async () => fs.writeFileSync('result.txt', 'x');")
    launched = await launch(engine, path)
    await launched.process.result()
    assert launched.text("stderr").startswith("[pie] 'result.txt': removed with the program")


async def test_a_program_reads_the_files_beside_it(engine, program):
    source = """
    import fs from 'node:fs';
    import more from './more.json' with { type: 'json' };
    export const main = async () => [fs.readFileSync(new URL('data.txt', import.meta.url), 'utf8'), more.n];
    """
    path = program(source, data_txt="here", more_json='{"n": 1}', package_json="{}")
    assert [await engine.run(path) for _ in range(2)] == [["here", 1]] * 2


async def test_a_program_with_libraries_runs_where_it_is(engine, tmp_path):
    library = tmp_path / "node_modules" / "lib"
    library.mkdir(parents=True)
    (library / "index.js").write_text("exports.half = (n) => n / 2;")
    (tmp_path / "index.mjs").write_text("import { half } from 'lib';\nexport const main = async ({ n }) => half(n);\n")
    assert await engine.run(tmp_path, {"n": 3}) == 1.5


PARENT_PY = """
from inferlet import runtime
async def main(input):
    return ["python", await runtime.launch("child.ts", {"n": 2}).result()]
"""
CHILD_TS = "export async function main({ n }: { n: number }) { return ['typescript', n * 2]; }\n"


async def test_a_python_parent_has_a_typescript_child(engine, program):
    path = program(PARENT_PY, "main.py", child_ts=CHILD_TS)
    assert await engine.run(path) == ["python", ["typescript", 4]]


PARENT_JS = """
import { runtime } from 'inferlet';
export async function main() {
  const children = ['child.ts', 'child.py'].map((program) => runtime.launch(program, { n: 2 }));
  return await Promise.all(children.map((child) => child.result()));
}
"""
CHILD_PY = "async def main(input):\n    return ['python', input['n'] * 3]\n"


async def test_a_javascript_parent_has_children_in_other_languages(engine, program):
    path = program(PARENT_JS, "main.js", child_ts=CHILD_TS, child_py=CHILD_PY)
    assert await engine.run(path) == [["typescript", 4], ["python", 6]]


async def test_messages_cross_languages(engine, program):
    program(
        "from inferlet import messaging\nasync def main(input):\n    return await messaging.pull('topic')\n", "a.py"
    )
    path = program(
        "import { messaging } from 'inferlet';\nexport const main = async () => messaging.push('topic', 'hi');"
    )
    waiting = await launch(engine, path.with_name("a.py"))
    await engine.run(path)
    assert await waiting.process.result() == "hi"


async def test_a_program_that_only_computes_is_ended(program):
    async with bounded_engine(sandbox="required", watchdog_seconds=0.3) as engine:
        launched = await launch(engine, program("export async function main() { for (;;); }"))
        await ended_by(launched, "Watchdog: neither called nor yielded for 0.3 s")


async def test_processor_time_is_bounded(program):
    async with bounded_engine(sandbox="required", max_cpu_seconds=1) as engine:
        launched = await launch(engine, program("export async function main() { for (;;); }"))
        await ended_by(launched, "CPU limit of 1 s exceeded")


async def test_inline_engines_refuse_it(program):
    from pie_mlx import Engine

    async with Engine(dummy=True, total_pages=64, isolation="inline") as engine:
        with pytest.raises(LaunchError, match="JavaScript needs a process of its own"):
            await engine.run(program("export const main = async () => 1;"))


async def test_threads_are_refused_in_clear_words(engine, program):
    path = program("""
        import { Worker } from 'node:worker_threads';
        export const main = async () => new Worker('', { eval: true });
        """)
    with pytest.raises(ProcessError, match="Access to this API has been restricted"):
        await engine.run(path)
