"""What a program's source tells to go wrong, with its line."""

import textwrap
from pathlib import Path

import pytest

from pie_mlx.runtime.check.source_findings import Code, code_findings
from pie_mlx.runtime.program.manifest import Manifest, RuntimeSettings
from pie_mlx.runtime.program.semver import Requirement, Version

MAIN = "async def main(input): ...\n"


def findings(source, modules=None, directory=Path(), manifest=None):
    """Of a program with these modules beside its main file."""
    files = {"main.py": source, **(modules or {})}
    code = Code(Path("main.py"), directory, lambda file: files.get(file.as_posix()))
    return code_findings(code, manifest or Manifest("demo", Version((0, 1, 0))))


@pytest.mark.parametrize(
    "parameters", ["input", "input, n=1", "*args", "input, /, **rest", "input=None", "_input, *, n=1"]
)
def test_a_main_that_can_be_called_with_one_argument_is_right(parameters):
    assert findings(f"async def main({parameters}): ...\n") == []


@pytest.mark.parametrize("parameters", ["", "a, b", "**rest", "input, *, n"])
def test_a_main_that_cannot_is_a_finding(parameters):
    assert findings(f"import os\nasync def main({parameters}): ...\n") == [
        "main.py:2: main does not take one argument: write 'async def main(input)'"
    ]


def test_a_blocking_main_is_told_without_async():
    assert findings("def main(): ...\n")[0].endswith("write 'def main(input)'")


@pytest.mark.parametrize(
    "source",
    [
        "@decorated\nasync def main(): ...\n",
        "if __debug__:\n    async def main(): ...\nelse:\n    async def main(input): ...\n",
        "main = print\n",
        "class A:\n    async def main(): ...\nasync def main(input): ...\n",
    ],
)
def test_a_main_that_may_fit_is_no_finding(source):
    assert findings(source) == []


def test_arguments_by_name_may_be_any():
    by_name = Manifest("demo", Version((0, 1, 0)), runtime=RuntimeSettings(call="kwargs"))
    assert findings("async def main(a, b): ...\n", manifest=by_name) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("from inferlet import Contxt", "'inferlet' has no 'Contxt' in the asynchronous API, did you mean 'Context'?"),
        (
            "from inferlet import StructuredOutputError",
            "'inferlet' has no 'StructuredOutputError' in the asynchronous API: it is in 'inferlet.errors'",
        ),
        ("from inferlet import Event", "'inferlet' has no 'Event' in the asynchronous API"),
        ("from inferlet.chat import Nothing", "'inferlet.chat' has no 'Nothing' in the asynchronous API"),
        ("from inferlet.nothing import x", "the asynchronous API has no module 'inferlet.nothing'"),
        ("import inferlet.nothing", "the asynchronous API has no module 'inferlet.nothing'"),
        ("import nosuchmod.sub", "no module 'nosuchmod': put it into the program's directory, or install it beside"),
        ("from nosuchmod import x", "no module 'nosuchmod': "),
    ],
)
def test_what_is_not_there_to_import_is_a_finding(line, problem):
    (finding,) = findings(f"import json\n{line}\n{MAIN}")
    assert finding.startswith(f"main.py:2: {problem}")


@pytest.mark.parametrize(
    "line",
    [
        "from inferlet import *",
        "from inferlet import Context, chat, spec",
        "from inferlet.chat import Decoder",
        "import inferlet.chat as chat, os.path, msgspec",
        "from __future__ import annotations",
        "try:\n    import nosuchmod\nexcept ImportError:\n    import nosuchmod2",
        "if __debug__:\n    import nosuchmod",
        "from contextlib import suppress\nwith suppress(ImportError):\n    import nosuchmod",
    ],
)
def test_what_is_there_or_may_be_missing_is_no_finding(line):
    assert findings(f"{line}\n{MAIN}") == []


def test_a_blocking_program_imports_from_the_blocking_api():
    source = "from inferlet import Event, Forward\nimport inferlet.constraint\ndef main(input): ...\n"
    assert findings(source) == [
        "main.py:1: 'inferlet' has no 'Forward' in the blocking API, did you mean 'ForwardPass'?"
    ]


def test_imports_in_functions_count():
    source = """
        async def main(input):
            import nosuchmod
        """
    assert findings(textwrap.dedent(source))[0].startswith("main.py:3: no module 'nosuchmod'")


def test_a_module_beside_a_lone_file_is_not_seen():
    assert findings("import helper\nasync def main(input): ...\n", {"helper.py": ""}, directory=None) == [
        "main.py:1: 'helper.py' is not part of a single-file program: put both into one directory, this as main.py"
    ]


def test_modules_of_the_program_are_followed():
    modules = {
        "helper.py": "import helper, main\n",
        "parts/__init__.py": "",
        "parts/tool.py": "import nosuchmod\n",
        "parts/unused.py": "import nosuchmod\n",
    }
    found = findings(f"import helper\nfrom parts import tool\n{MAIN}", modules)
    assert [finding.partition(": ")[0] for finding in found] == ["parts/tool.py:1"]


def test_a_syntax_error_in_a_module_of_the_program_is_a_finding():
    assert findings(f"import helper\n{MAIN}", {"helper.py": "x = (\n"}) == ["helper.py:1: '(' was never closed"]


def test_a_lone_file_has_no_modules_of_its_own():
    assert len(findings(f"import helper\n{MAIN}", {"helper.py": ""}, directory=None)) == 1


def test_dependencies_are_modules():
    needs = Manifest("demo", Version((0, 1, 0)), dependencies={"a-lib": Requirement.parse("1.0.0")})
    assert findings(f"from a_lib.part import x\n{MAIN}", manifest=needs) == []
