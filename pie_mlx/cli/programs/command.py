"""`pie build`, `install`, `list`, `show` and `remove`."""

from pathlib import Path

import click

from pie_mlx.cli.engine.completions import complete_program
from pie_mlx.cli.options import Common, common_options


@click.command
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write to this file."
)
@common_options
@click.pass_obj
def build(common: Common, path: Path, output: Path | None) -> None:
    """Package a directory or a Python file. The same files give the same bytes.

    The default output is dist/NAME-VERSION.pie, inside the directory or beside the Python file.
    """
    from pie_mlx.cli.programs import verbs

    verbs.build(common, path, output)


@click.command
@click.argument("path", type=click.Path(path_type=Path))
@click.option("-m", "--manifest", type=click.Path(path_type=Path), metavar="PATH", help="Use this Pie.toml.")
@click.option("--force", is_flag=True, help="Replace a different program of the same version.")
@common_options
@click.pass_obj
def install(common: Common, path: Path, manifest: Path | None, force: bool) -> None:
    """Install a directory, a .py, .ts, .js or .wasm file or a .pie package, to run it by its name."""
    from pie_mlx.cli.programs import verbs

    verbs.install(common, path, manifest, force)


@click.command("list")
@common_options
@click.pass_obj
def list_programs(common: Common) -> None:
    """List installed programs."""
    from pie_mlx.cli.programs import verbs

    verbs.list_programs(common)


@click.command
@click.argument("name", metavar="NAME[@VERSION]", shell_complete=complete_program)
@common_options
@click.pass_obj
def show(common: Common, name: str) -> None:
    """Show an installed program: its facts, its parameters and its manifest."""
    from pie_mlx.cli.programs import verbs

    verbs.show(common, name)


@click.command
@click.argument("name", metavar="NAME[@VERSION]", shell_complete=complete_program)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--scratch", is_flag=True, help="Also remove its files in /scratch.")
@common_options
@click.pass_obj
def remove(common: Common, name: str, yes: bool, scratch: bool) -> None:
    """Remove one version of a program, or all of them. Running processes continue."""
    from pie_mlx.cli.programs import verbs

    verbs.remove(common, name, yes, scratch)


@click.group(hidden=True)
@common_options
def inferlet() -> None:
    """The earlier name of `pie show`."""


inferlet.add_command(show, "info")
