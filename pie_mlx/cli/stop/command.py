"""`pie stop`"""

import click

from pie_mlx.cli.options import Common, common_options


@click.command(options_metavar="[OPTIONS]")
@click.argument("names", nargs=-1, metavar="")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@common_options
@click.pass_obj
def command(common: Common, names: tuple[str, ...], yes: bool) -> None:
    """Stop the engine that 'pie serve' has started here, and wait until it has ended.

    It asks first if programs are running, because they end with it.
    """
    if names:
        raise click.UsageError(f"it ends the engine and takes no name: 'pie kill {names[0]}' ends a program")
    from pie_mlx.cli.stop.stopping import stop

    stop(common, yes=yes)
