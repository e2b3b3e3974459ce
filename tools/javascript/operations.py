"""The operations of rules as a JavaScript module."""

from pie_mlx.calls.rule import FORBIDDEN, OPERATIONS, Operation
from tools.javascript.files import GENERATED

_BEGINNING = """\
/**
 * What values hold.
 * @typedef {'float' | 'integer' | 'condition'} Kind
 *
 * What an operation takes and results in: with the shape of its inputs, or always a row or a number. `ofRow`: its first
 * input must be a row.
 * @typedef {{ inputs: Kind[], result: Kind, shape: 'inputs' | 'row' | 'number', ofRow: boolean }} Operation
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
            "/** @type {Readonly<Record<string, Operation>>} */",
            f"export const OPERATIONS = {{\n{rows}\n}};\n",
        ]
    )


def _row(one: Operation) -> str:
    inputs = ", ".join(f"'{kind}'" for kind in one.inputs)
    return f"{{ inputs: [{inputs}], result: '{one.result}', shape: '{one.shape}', ofRow: {str(one.of_row).lower()} }}"
