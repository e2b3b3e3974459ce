"""`python -m tools.javascript` writes the generated modules of the JavaScript SDK."""

from tools.javascript.calls import complete_module, types_module
from tools.javascript.errors import errors_module
from tools.javascript.files import SDK, write_changed
from tools.javascript.operations import operations_module


def modules() -> dict[str, str]:
    """Every generated module by its path inside the SDK."""
    return {
        "_calls/types.mjs": types_module(),
        "_calls/complete.mjs": complete_module(),
        "_rules/operations.mjs": operations_module(),
        "errors.mjs": errors_module(),
    }


if __name__ == "__main__":
    for path, text in modules().items():
        write_changed(SDK / path, text)
