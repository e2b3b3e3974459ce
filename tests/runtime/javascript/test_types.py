"""Types are stripped once for the same program, and what a worker says of them counts for that program alone."""

import pytest

from pie_mlx.runtime.javascript.program import COPIED_BYTES, COPIED_FILES, StrippedTypes, node_program
from pie_mlx.runtime.program.program import find_program
from tests.runtime.worker.conftest import launch

MAIN = "export async function main(): Promise<number> { return 1; }\n"
FORGER = """
import fs from 'node:fs';
const host = new URL('../link/msgpack.mjs', import.meta.resolve('inferlet'));
const { encode } = await import(host.href);
export async function main(): Promise<number> {
  const data = encode(['types_stripped', { 'main.ts': 'export const main = async () => 2;' }], 4);
  data.writeUInt32LE(data.length - 4, 0);
  fs.writeSync(3, data);
  return 1;
}
"""


def key(path):
    return node_program(find_program(path)).types_key


@pytest.mark.asyncio(loop_scope="module")
async def test_a_program_cannot_replace_its_own_text(engine, program):
    path = program(FORGER, "main.ts")
    for _ in range(3):
        assert await (await launch(engine, path)).process.result() == 1


def test_the_same_file_beside_another_is_another_program(program):
    first = key(program(MAIN, "main.ts", package_json="{}"))
    assert first
    assert key(program(MAIN, "main.ts", other_ts="export {};")) != first


def test_a_program_without_types_has_nothing_to_keep(program):
    assert key(program("export const main = async () => 1;")) == ""


def test_the_first_answer_counts_and_the_oldest_is_forgotten():
    kept = StrippedTypes(limit_bytes=100)
    for text in ("first", "second"):
        kept.put("a", {"main.ts": text})
    assert kept.get("a") == {"main.ts": "first"}
    kept.put("b", {"main.ts": "x" * 60})
    kept.get("a")
    kept.put("c", {"main.ts": "x" * 20})
    assert [name for name in "abc" if kept.get(name)] == ["a", "c"]


def test_small_programs_are_copied_and_large_ones_read_where_they_are(tmp_path):
    (tmp_path / "main.js").write_text("export const main = async () => 1;")
    assert node_program(find_program(tmp_path)).files == {"main.js": b"export const main = async () => 1;"}
    (tmp_path / "data").write_bytes(bytes(COPIED_BYTES))
    assert node_program(find_program(tmp_path)).files is None
    (tmp_path / "data").unlink()
    for number in range(COPIED_FILES):
        (tmp_path / f"{number}.txt").touch()
    assert node_program(find_program(tmp_path)).files is None
