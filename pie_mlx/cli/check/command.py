"""`pie check`"""

from pathlib import Path

import click

from pie_mlx.cli.options import Common, common_options


@click.command
@click.argument("path", required=False, type=click.Path(path_type=Path))
@common_options
@click.pass_obj
def command(common: Common, path: Path | None) -> int:
    """Check a program or a configuration and print everything that is wrong with it.

    PATH is a directory, its Pie.toml, a .py file or a .pie package. Any other .toml is a configuration; without PATH
    the active one is checked. Nothing is executed. Imports inside an if or a try are not checked.
    """
    from pie_mlx.cli.check.findings import run_check

    return run_check(common, path)
