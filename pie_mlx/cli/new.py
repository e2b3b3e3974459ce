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
_SUFFIX = ".template"
NAMES = tuple(sorted(folder.name for folder in TEMPLATES.iterdir() if folder.is_dir()))


@click.command
@click.argument("name")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Write to this directory instead of ./NAME."
)
@click.option("--template", type=click.Choice(NAMES), default="chat", show_default=True, help="The template.")
@click.option("-t", "--ts", is_flag=True, hidden=True)
@common_options
@click.pass_obj
def command(common: Common, name: str, output: Path | None, template: str, ts: bool) -> None:
    """Write a program to start from: Pie.toml, main.py, and a test that runs offline on pie-tiny."""
    if ts:
        raise click.UsageError("programs are written in Python: leave out --ts")
    from pie_mlx.runtime.program.manifest import NAME_LIMIT, is_name

    if not is_name(name):
        raise click.UsageError(f"'{name}' is not a name: use letters, digits, '-' and '_', at most {NAME_LIMIT}")
    folder = output or Path(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LaunchError(f"{folder}: it exists already and is not empty", hint="name another directory with --output")
    written = write_template(template, folder, name)
    if common.json:
        print(json.dumps({"name": name, "path": str(folder), "files": written}))
    else:
        print("\n".join([*(str(folder / file) for file in written), *([] if common.quiet else _next_steps(folder))]))


def write_template(template: str, folder: Path, name: str) -> list[str]:
    """Write a template into a directory; returns the paths inside it. Raises LaunchError."""
    sources = sorted((TEMPLATES / template).rglob(f"*{_SUFFIX}"))
    written: list[str] = []
    try:
        for source in sources:
            path = source.relative_to(TEMPLATES / template).with_suffix("")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            text = Template(source.read_text(encoding="utf-8")).substitute(name=name)
            write_file(folder / path, text.encode(), SHARED)
            written.append(path.as_posix())
    except OSError as error:
        hint = disk_hint(error, "name another directory with --output")
        raise LaunchError(f"{error.filename}: {error.strerror}", hint=hint) from None
    return written


def _next_steps(folder: Path) -> list[str]:
    python = _interpreter()
    steps = [
        "",
        f"run it:   pie run {folder if '/' in str(folder) else f'./{folder}'}",
        f"test it:  {python} -m pytest {folder}",
    ]
    missing = importlib.util.find_spec("pytest") is None
    return [*steps, f"          after {python} -m pip install pytest"] if missing else steps


def _interpreter() -> str:
    """The command for the interpreter that has this package: `python` is often another one."""
    own = Path(sys.executable)
    if shutil.which("python") == str(own):
        return "python"
    return shlex.quote(str(own.relative_to(Path.cwd()) if own.is_relative_to(Path.cwd()) else own))
