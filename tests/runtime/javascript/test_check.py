"""Mistakes in modules are found without executing them."""

import pytest

from pie_mlx.runtime.javascript.check import javascript_findings

GOOD = """
import fs from 'node:fs';
import { Model } from 'inferlet';
import { half as part } from './half.ts';
import library, { a, b as c } from 'some-library';
import data from './data.json' with { type: 'json' };
throw new Error(String([fs, Model, part, library, a, c, data]));
export async function main(input: { n: number }) { return part(input.n); }
"""
HALF = "export const half = (n: number): number => n / 2;\n"


def findings(path):
    return javascript_findings(path / "main.ts" if path.is_dir() else path, path if path.is_dir() else None, "main")


def test_a_program_that_links_has_none_and_is_not_executed(program):
    assert findings(program(GOOD, "main.ts", half_ts=HALF, data_json="{}")) == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("export async function main() {\n  return 1 +;\n}", "main.ts:2: Expression expected"),
        ("export enum A { x }\nexport async function main() {}", "main.ts:1: TypeScript enum is not supported"),
        ("import { Modell } from 'inferlet';\nexport const main = async () => Modell;", "named 'Modell'"),
        ("import { whole } from './half.ts';\nexport const main = async () => whole;", "named 'whole'"),
        ("import './gone.ts';\nexport const main = async () => 1;", "main.ts: there is no module './gone.ts'"),
        ("const main = 1;", "main.ts: no 'export async function main(input)'"),
        ("module.exports = { main: async () => 1 };", "main.ts: it is CommonJS"),
    ],
)
def test_a_mistake_is_told_with_its_place(program, source, problem):
    (found,) = findings(program(source, "main.ts", half_ts=HALF))
    assert problem in found


def test_a_syntax_error_in_javascript_has_its_line(program):
    source = "import { Model } from 'inferlet';\nexport async function main() {\n  return Model +;\n}\n"
    assert findings(program(source)) == ["main.js:3: Unexpected token ';'"]
