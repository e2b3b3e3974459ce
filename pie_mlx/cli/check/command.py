"""`pie check`"""

from pathlib import Path

import click

from pie_mlx.cli.options import Common, common_options


@click.command
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("-m", "--manifest", type=click.Path(path_type=Path), metavar="PATH", help="Use this Pie.toml.")
@common_options
@click.pass_obj
def command(common: Common, path: Path | None, manifest: Path | None) -> int:
    """Check a program or a configuration and print everything that is wrong with it.

    PATH is a directory, its Pie.toml, a .py, .ts, .js or .wasm file or a .pie package. Any other .toml is a
    configuration; without PATH the active one is checked. Nothing is executed; a component is compiled. Imports
    inside an if or a try are not checked.
    """
    from pie_mlx.cli.check.findings import run_check

    if manifest is not None and (path is None or path.suffix in (".toml", ".pie")):
        raise click.UsageError("--manifest goes with the path of a program without its own")
    return run_check(common, path, manifest)
