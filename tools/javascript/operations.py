"""The operations of rules as a JavaScript module."""

from collections.abc import Sequence

from pie_mlx.calls.rule import (
    ARRAY_OPERATIONS,
    FORBIDDEN,
    MOST_OPERATIONS,
    MOST_WEIGHTS,
    OPERATIONS,
    VECTOR_OPERATIONS,
    Operation,
)
from tools.javascript.files import GENERATED

_BEGINNING = """\
/**
 * What values hold.
 * @typedef {'float' | 'integer' | 'condition'} Kind
 *
 * What an operation takes and results in: with the shape of its inputs, or always a row, a number or a vector. `of` is
 * what its first input must be.
 * @typedef {{
 *   inputs: Kind[],
 *   result: Kind,
 *   shape: 'inputs' | 'row' | 'number' | 'vector',
 *   of: 'anything' | 'row' | 'vector' | 'row or vector',
 * }} Operation
 */
"""


def operations_module() -> str:
    """Every operation by its name."""
    rows = "\n".join(f"  {name}: {_row(one)}," for name, one in OPERATIONS.items())
    return "\n".join(
        [
            "/** The operations of rules. */\n",
            GENERATED,
            _BEGINNING,
            "/** What a rule sees as the logit of a token that may not be drawn. */",
            f"export const FORBIDDEN = {FORBIDDEN!r};\n",
            "/** The most operations of a rule. */",
            f"export const MOST_OPERATIONS = {MOST_OPERATIONS};\n",
            "/** The most numbers in all arrays of a rule. */",
            f"export const MOST_WEIGHTS = {MOST_WEIGHTS};\n",
            "/** Operations that name an array, by its place. */",
            f"export const ARRAY_OPERATIONS = [{_names(ARRAY_OPERATIONS)}];\n",
            "/** Operations that the first version of the format does not have. */",
            f"export const VECTOR_OPERATIONS = [{_names(VECTOR_OPERATIONS)}];\n",
            "/** @type {Readonly<Record<string, Operation>>} */",
            f"export const OPERATIONS = {{\n{rows}\n}};\n",
        ]
    )


def _row(one: Operation) -> str:
    return f"{{ inputs: [{_names(one.inputs)}], result: '{one.result}', shape: '{one.shape}', of: '{one.of}' }}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
