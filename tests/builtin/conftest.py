import importlib

import pytest

from pie_mlx.runtime.daemon import builtin_program
from pie_mlx.runtime.program.modules import ModuleSpace


@pytest.fixture(scope="session")
def openai_module():
    """Modules of the built-in program, by name."""
    space = ModuleSpace(builtin_program("openai"))
    yield lambda name: importlib.import_module(f"{space.package}.{name}")
    space.close()
