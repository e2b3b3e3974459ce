"""Traps as errors: what happened, in which function, and the component's stack as a note."""

import re

from pie_mlx.errors import ProcessError

_FRAME = re.compile(r"^ +\d+: +(?:0x[0-9a-f]+ - )?(\S+)$", re.MULTILINE)


def trapped(text: str) -> ProcessError:
    """The error for wasmtime's text about a trap."""
    stack, _, causes = text.partition("Caused by:")
    functions = [name.rpartition("!")[2] for name in _FRAME.findall(stack)]
    where = f" in '{functions[0]}'" if functions else ""
    error = ProcessError(f"component: {_cause(causes or text)}{where}", hint="see its stack on standard error")
    if functions:
        error.add_note("\n  in ".join(["Stack of the component, the innermost first:", *functions]))
    return error


def _cause(text: str) -> str:
    """The causes, the last one first: it is the most general."""
    lines = [re.sub(r"^\s*(?:\d+: )?(?:wasm trap: )?", "", line) for line in text.strip().splitlines() if line.strip()]
    return "; ".join(reversed(lines))
