import sys

import pytest

import inferlet
import inferlet.sync
from pie_mlx.runtime.execution.outcome import as_imported
from pie_mlx.runtime.program.modules import ModuleSpace
from pie_mlx.runtime.program.program import find_program, program_entry_kind


@pytest.fixture
def load(tmp_path):
    """Writes a program, loads its main module, and takes it away afterwards."""
    spaces = []

    def load(name="demo", **files):
        directory = tmp_path / name
        directory.mkdir(exist_ok=True)
        for stem, source in files.items():
            path = directory / f"{stem}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(source)
        program = find_program(directory)
        spaces.append(ModuleSpace(program, program_entry_kind(program)))
        return spaces[-1].load_main()

    yield load
    for space in spaces:
        space.close()


MAIN = "async def main(input): ...\n"


def test_inferlet_is_the_sdk(load):
    module = load(main="import inferlet\nfrom inferlet import Context\nimport inferlet.spec as spec\n" + MAIN)
    assert module.inferlet is inferlet
    assert module.Context is inferlet.Context
    assert module.spec is inferlet.spec


def test_a_dotted_import_binds_the_package(load):
    module = load(main="import inferlet.spec\n" + MAIN)
    assert module.inferlet is inferlet


MODULES = [
    "adapter", "chat", "context", "errors", "forward", "generation", "generator", "grammar", "mcp", "messaging",
    "model", "reasoning", "runtime", "sample", "sampler", "scheduling", "session", "spec", "tools", "zo",
]  # fmt: skip
"""Those that our reference and the SDK of Pie name."""
FORMS = """
import inferlet.{0}
from inferlet import {0}
import inferlet.{0} as other
import inferlet
same = inferlet.{0}
"""


@pytest.mark.parametrize("main", [MAIN, "def main(input): ...\n"], ids=["asynchronous", "blocking"])
@pytest.mark.parametrize("name", MODULES)
def test_every_module_of_the_sdk_is_imported_in_every_form(load, name, main):
    module = load(main=FORMS.format(name) + main)
    assert getattr(module, name) is module.other is module.same
    assert module.inferlet is (inferlet if main == MAIN else inferlet.sync)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import inferlet.nothing", "No module named 'inferlet.nothing'"),
        ("from inferlet.nothing import x", "No module named 'inferlet.nothing'"),
        ("from inferlet import Nothing", "cannot import name 'Nothing' from 'inferlet'"),
        ("from inferlet.chat import Nothing", "cannot import name 'Nothing' from 'inferlet.chat'"),
    ],
)
@pytest.mark.parametrize("main", [MAIN, "def main(input): ...\n"], ids=["asynchronous", "blocking"])
def test_what_the_sdk_lacks_is_named_as_the_program_names_it(load, line, message, main):
    with pytest.raises(ImportError) as refused:
        load(main=f"{line}\n{main}")
    assert str(refused.value) == message


@pytest.mark.parametrize("main", [MAIN, "def main(input): ...\n"], ids=["asynchronous", "blocking"])
def test_an_attribute_that_the_sdk_lacks_is_named_as_the_program_names_it(load, main):
    with pytest.raises(AttributeError) as refused:
        load(main=f"import inferlet\ninferlet.nothing\n{main}")
    assert as_imported(str(refused.value)) == "module 'inferlet' has no attribute 'nothing'"


def test_a_program_imports_its_own_modules(load):
    module = load(helper="VALUE = 1\n", main="import helper\nfrom helper import VALUE\n" + MAIN)
    assert (module.helper.VALUE, module.VALUE) == (1, 1)


def test_own_modules_import_each_other_and_the_sdk(load):
    files = {
        "main": "import tools\nfrom tools.inner import DEEP\n" + MAIN,
        "tools/__init__": "from tools import inner\nfrom . import inner as same\nimport inferlet\n",
        "tools/inner": "import other\nDEEP = other.VALUE\n",
        "other": "VALUE = 7\n",
    }
    module = load(**files)
    assert module.DEEP == 7
    assert module.tools.inner is module.tools.same
    assert module.tools.inferlet is inferlet


def test_imports_inside_functions_are_translated_too(load):
    module = load(helper="VALUE = 3\n", main="def late():\n    import helper\n    return helper.VALUE\n" + MAIN)
    assert module.late() == 3


def test_two_programs_have_modules_of_their_own(load):
    first = load("first", helper="VALUE = 1\n", main="import helper\n" + MAIN)
    second = load("second", helper="VALUE = 2\n", main="import helper\n" + MAIN)
    assert (first.helper.VALUE, second.helper.VALUE) == (1, 2)


def test_two_runs_of_one_program_share_no_state(load):
    first = load(main="STATE = []\n" + MAIN)
    second = load(main="STATE = []\n" + MAIN)
    first.STATE.append(1)
    assert second.STATE == []


def test_the_standard_library_is_what_it_always_is(load):
    module = load(main="import json\nfrom os import path\n" + MAIN)
    import json
    from os import path

    assert module.json is json
    assert module.path is path


def test_a_lone_file_has_no_neighbours(tmp_path):
    (tmp_path / "neighbour_of_it.py").write_text("VALUE = 1\n")
    file = tmp_path / "lone.py"
    file.write_text("import neighbour_of_it\n" + MAIN)
    space = ModuleSpace(find_program(file))
    with pytest.raises(ModuleNotFoundError, match="neighbour_of_it"):
        space.load_main()
    space.close()


def test_annotations_of_dataclasses_resolve(load):
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nimport typing\n"
        "@dataclass\nclass A:\n    x: A | None = None\n"
        "HINTS = typing.get_type_hints(A)\n"
    )
    module = load(main=source + MAIN)
    assert module.HINTS["x"] == (module.A | None)


def test_closing_forgets_the_modules(tmp_path):
    file = tmp_path / "a.py"
    file.write_text(MAIN)
    finders = list(sys.meta_path)
    space = ModuleSpace(find_program(file))
    name = space.load_main().__name__
    space.close()
    assert name not in sys.modules
    assert sys.meta_path == finders


def test_no_byte_code_is_left_behind(load, tmp_path):
    load(helper="", main="import helper\n" + MAIN)
    assert list(tmp_path.rglob("__pycache__")) == []


def test_an_error_of_the_top_level_comes_through(load):
    with pytest.raises(ZeroDivisionError):
        load(main="1 / 0\n" + MAIN)
