"""Built-in programs stand on the public SDK, so that their directories can be copied."""

import ast
import sys

import pytest

from inferlet import __all__ as public
from pie_mlx.runtime.daemon.builtin_programs import BUILTIN

MODULES = sorted(BUILTIN.rglob("*.py"))


def imported(module):
    """Modules, and what is taken from them."""
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, "") for alias in names)
            case ast.ImportFrom(module=name, names=names):
                yield from ((name, alias.name) for alias in names)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(BUILTIN)))
def test_only_the_sdk_and_the_standard_library_are_imported(module):
    program = BUILTIN / module.relative_to(BUILTIN).parts[0]
    own = {other.stem for other in program.iterdir()}
    for name, taken in imported(module):
        assert name.partition(".")[0] in own | {"inferlet", "msgspec"} | sys.stdlib_module_names
        if name == "inferlet":
            assert taken in public
