"""What importing brings in, looked at in an interpreter of its own; import-linter checks the arrows themselves."""

import subprocess
import sys

import pytest

HEAVY = {"huggingface_hub", "jinja2", "llguidance", "mcp", "mlx", "mlx_lm", "numpy", "pydantic", "rich", "starlette"}
HEAVY |= {"textual", "tokenizers", "tomlkit", "torch", "transformers", "tvm_ffi"}
ROOMS = {"pie_mlx.backends", "pie_mlx.engine", "pie_mlx.metal", "pie_mlx.runtime", "pie_mlx.cli", "pie_mlx.config"}
ROOMS |= {"pie_mlx.events"}


def loaded_by(code):
    """Names in `sys.modules` after `code`, without what the bare interpreter has loaded."""
    script = f"import sys; before = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before, file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ended.stderr.split())


def test_the_sdk_loads_nothing_but_itself_the_border_and_msgspec():
    loaded = loaded_by("import inferlet")
    outside = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert {name for name in outside if not name.startswith("_")} <= {
        "inferlet",
        "pie_mlx",
        "msgspec",
        "typing_extensions",
    }
    assert loaded & ROOMS == set()


@pytest.mark.parametrize(
    "code",
    [
        "import pie_mlx",
        "from pie_mlx.cli.main import execute; execute(['--help'])",
        "from pie_mlx.cli.main import execute; execute(['run', '--help'])",
        "from pie_mlx.cli.main import execute; execute(['nonsense'])",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code):
    loaded = {name.partition(".")[0] for name in loaded_by(code)}
    assert loaded & HEAVY == set()


def test_help_loads_no_verb():
    loaded = loaded_by("from pie_mlx.cli.main import execute; execute(['--help'])")
    ours = {name for name in loaded if name.startswith("pie_mlx.")}
    assert ours == {
        f"pie_mlx.{name}"
        for name in (
            "cli",
            "cli.lazy",
            "cli.main",
            "cli.options",
            "cli.terminal",
            "cli.terminal.errors",
            "cli.terminal.signals",
            "errors",
            "files",
            "mlx_env",
            "system",
        )
    }


def test_a_program_with_a_mistake_is_refused_before_an_engine_is_loaded(tmp_path):
    loaded = loaded_by(f"from pie_mlx.cli.main import execute; execute(['run', '{tmp_path}/none.py'])")
    assert "mlx.core" not in loaded


@pytest.fixture(scope="module")
def loaded_by_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "main.py").write_text("async def main(input): ...")
    home = f"import os; os.environ['PIE_HOME'] = '{folder}'; "
    return loaded_by(home + f"from pie_mlx.cli.main import execute; execute(['run', '--dummy', '{folder}'])")


def test_run_loads_no_server(loaded_by_run):
    assert "pie_mlx.runtime.engine" in loaded_by_run
    server = {name for name in loaded_by_run if name.startswith("pie_mlx.server") or name in ("starlette", "uvicorn")}
    assert server == set()


def test_run_reads_no_models_of_transformers_but_those_it_loads(loaded_by_run):
    assert "transformers.models.auto.tokenization_auto" in loaded_by_run
    assert "transformers.dependency_versions_check" not in loaded_by_run
