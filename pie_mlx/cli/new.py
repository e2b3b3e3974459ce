"""`pie new`"""

import importlib.util
import json
import shlex
import shutil
import sys
from pathlib import Path
from string import Template

import click

from pie_mlx.cli.options import Common, common_options
from pie_mlx.errors import LaunchError
from pie_mlx.files import SHARED, disk_hint, write_file

TEMPLATES = Path(__file__).parent / "templates"
_OF_NODE = Path(__file__).parent / "templates_of_node"
_TYPES = Path(__file__).parents[1] / "javascript" / "inferlet" / "types" / "index.d.mts"
_SUFFIX = ".template"
_EDITOR = Path(".vscode") / "launch.json"
_DEBUG_PORT = 5678
_LAUNCHES = {
    "version": "0.2.0",
    "configurations": [
        {
            "name": "pie run",
            "type": "debugpy",
            "request": "launch",
            "module": "pie_mlx",
            "args": ["run", "--inline", "${workspaceFolder}"],
            "console": "integratedTerminal",
            "subProcess": False,
        },
        {
            "name": f"Attach to pie run --debug-port {_DEBUG_PORT}",
            "type": "debugpy",
            "request": "attach",
            "connect": {"host": "127.0.0.1", "port": _DEBUG_PORT},
        },
    ],
}
"""What VS Code offers under "Run and Debug"."""
NAMES = tuple(sorted(folder.name for folder in TEMPLATES.iterdir() if folder.is_dir()))


@click.command
@click.argument("name")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Write to this directory instead of ./NAME."
)
@click.option("--template", type=click.Choice(NAMES), default="chat", show_default=True, help="The template.")
@click.option("-t", "--ts", "language", flag_value="ts", help="Write it in TypeScript.")
@click.option("--js", "language", flag_value="js", help="Write it in JavaScript.")
@common_options
@click.pass_obj
def command(common: Common, name: str, output: Path | None, template: str, language: str | None) -> None:
    """Write a program to start from: Pie.toml, main.py, and a test that runs offline on pie-tiny.

    .vscode/launch.json lets VS Code run it, and attach to 'pie run --debug-port 5678'. With --ts or --js: main.ts or
    main.js, and what an editor needs to complete the names of the SDK. WebAssembly is built by the tools of its
    language: docs/guide/components.md shows how to start.
    """
    if language and template != "chat":
        raise click.UsageError(f"the template '{template}' is in Python: leave out --{language}")
    from pie_mlx.runtime.program.manifest import NAME_LIMIT, is_name

    if not is_name(name):
        raise click.UsageError(f"'{name}' is not a name: use letters, digits, '-' and '_', at most {NAME_LIMIT}")
    folder = output or Path(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LaunchError(f"{folder}: it exists already and is not empty", hint="name another directory with --output")
    if language:
        written, steps = _write_all(_OF_NODE / language, folder, name), _run_step(folder)
    else:
        written, steps = write_template(template, folder, name), _next_steps(folder)
        written.append(_write(folder, _EDITOR, json.dumps(_LAUNCHES, indent=2) + "\n"))
    if common.json:
        print(json.dumps({"name": name, "path": str(folder), "files": written}))
    else:
        print("\n".join([*(str(folder / file) for file in written), *([] if common.quiet else steps)]))


def write_template(template: str, folder: Path, name: str) -> list[str]:
    """Write a template into a directory; returns the paths inside it. Raises LaunchError."""
    return _write_all(TEMPLATES / template, folder, name)


def _write_all(template: Path, folder: Path, name: str) -> list[str]:
    texts = {
        source.relative_to(template).with_suffix(""): Template(source.read_text(encoding="utf-8"))
        for source in sorted(template.rglob(f"*{_SUFFIX}"))
    }
    return [_write(folder, path, text.substitute(name=name, types=_TYPES)) for path, text in texts.items()]


def _write(folder: Path, path: Path, text: str) -> str:
    """The path as it is shown. Raises LaunchError."""
    try:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / path, text.encode(), SHARED)
    except OSError as error:
        hint = disk_hint(error, "name another directory with --output")
        raise LaunchError(f"{error.filename}: {error.strerror}", hint=hint) from None
    return path.as_posix()


def _run_step(folder: Path) -> list[str]:
    return ["", f"run it:   pie run {folder if '/' in str(folder) else f'./{folder}'}"]


def _next_steps(folder: Path) -> list[str]:
    python = _interpreter()
    steps = [*_run_step(folder), f"test it:  {python} -m pytest {folder}"]
    missing = importlib.util.find_spec("pytest") is None
    return [*steps, f"          after {python} -m pip install pytest"] if missing else steps


def _interpreter() -> str:
    """The command for the interpreter that has this package: `python` is often another one."""
    own = Path(sys.executable)
    if shutil.which("python") == str(own):
        return "python"
    return shlex.quote(str(own.relative_to(Path.cwd()) if own.is_relative_to(Path.cwd()) else own))
