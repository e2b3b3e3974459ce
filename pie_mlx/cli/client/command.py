"""`pie client`"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pie_mlx.cli.options import Common, Whole, common_options
from pie_mlx.cli.run.command import WORDS, RunCommand

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _connecting(command: Decorated) -> Decorated:
    """Options for the engine's address and the user; cli_config.toml holds their defaults."""
    options = [
        click.option("--host", metavar="HOST", help="The engine's host."),
        click.option("--port", type=Whole(1, 65535), metavar="N", help="The engine's port."),
        click.option("--username", metavar="NAME", help="Connect as this user."),
        click.option("--private-key-path", type=click.Path(path_type=Path), metavar="PATH", help="That user's key."),
    ]
    for option in reversed(options):
        command = option(command)
    return common_options(command)


@click.group
@common_options
def command() -> None:
    """Use an engine on any machine, with the verbs of pie-client. Here --config names cli_config.toml."""


@command.command(cls=RunCommand, options_metavar="[OPTIONS]", epilog="Words after -- are the program's input.")
@click.argument("name", required=False, metavar="NAME[@VERSION]")
@click.option("-p", "--path", type=click.Path(path_type=Path), metavar="PATH", help="Install this program first.")
@click.option("-m", "--manifest", type=click.Path(path_type=Path), metavar="PATH", help="Use this Pie.toml.")
@click.option("-d", "--no-output", is_flag=True, help="Do not wait for it; print its id.")
@_connecting
@click.pass_context
def submit(
    ctx: click.Context, name: str | None, path: Path | None, manifest: Path | None, no_output: bool, **where: Any
) -> int:
    """Run a program and show what it sends.

    \b
    pie client submit text-completion -- --prompt "Who are you?"
    """
    from pie_mlx.cli.client import verbs

    words = tuple(ctx.meta.get(WORDS) or ())
    return verbs.submit(_with_address(ctx.ensure_object(Common), where), name, path, manifest, words, no_output)


@command.command
@click.option("-p", "--path", type=click.Path(path_type=Path), required=True, metavar="PATH", help="The program.")
@click.option("-m", "--manifest", type=click.Path(path_type=Path), metavar="PATH", help="Use this Pie.toml.")
@click.option("-f", "--force", is_flag=True, help="Replace a different program of the same version.")
@_connecting
@click.pass_obj
def install(common: Common, path: Path, manifest: Path | None, force: bool, **where: Any) -> None:
    """Upload a program: a .py file, a directory or a .pie package."""
    from pie_mlx.cli.client import verbs

    verbs.install(_with_address(common, where), path, manifest, force)


@command.command("list")
@click.option("--full", is_flag=True, help="Show whole ids.")
@click.option("--long", is_flag=True, help="Show the first 8 characters of ids.")
@_connecting
@click.pass_obj
def list_processes(common: Common, full: bool, long: bool, **where: Any) -> None:
    """List processes."""
    from pie_mlx.cli.client import verbs

    verbs.list_processes(_with_address(common, where), 36 if full else 8 if long else 4)


@command.command
@click.argument("prefix")
@_connecting
@click.pass_obj
def attach(common: Common, prefix: str, **where: Any) -> int:
    """Follow a process and talk to it. Ctrl-C ends it, Ctrl-D leaves it running."""
    from pie_mlx.cli.processes import follow

    return follow.attach(_with_address(common, where), prefix, None)


@command.command
@click.argument("prefix")
@_connecting
@click.pass_obj
def abort(common: Common, prefix: str, **where: Any) -> None:
    """End a process."""
    from pie_mlx.cli.processes import verbs

    verbs.kill(_with_address(common, where), (prefix,), all_=False, yes=True)


@command.command
@_connecting
@click.pass_obj
def ping(common: Common, **where: Any) -> None:
    """Say whether the engine answers, and how fast."""
    from pie_mlx.cli.client import verbs

    verbs.ping(_with_address(common, where))


@command.group
@common_options
def config() -> None:
    """Manage cli_config.toml, the defaults of these options."""


_FILE = click.option("--path", type=click.Path(path_type=Path), metavar="PATH", help="Use this file instead.")


@config.command
@click.option("--enable-auth/--no-auth", default=True, help="Whether the engine asks for a key.")
@_FILE
@common_options
@click.pass_obj
def init(common: Common, enable_auth: bool, path: Path | None) -> None:
    """Write the file. It must not exist yet."""
    from pie_mlx.cli.client import config_file

    config_file.write_first(config_file.file_of(common, path), enable_auth=enable_auth)


@config.command
@click.option("--host", metavar="HOST")
@click.option("--port", type=Whole(1, 65535), metavar="N")
@click.option("--username", metavar="NAME")
@click.option("--private-key-path", metavar="PATH")
@click.option("--enable-auth/--no-auth", default=None)
@_FILE
@common_options
@click.pass_obj
def update(common: Common, path: Path | None, **changes: Any) -> None:
    """Change values in the file."""
    from pie_mlx.cli.client import config_file

    config_file.change(config_file.file_of(common, path), changes)


@config.command
@_FILE
@common_options
@click.pass_obj
def show(common: Common, path: Path | None) -> None:
    """Print the file."""
    from pie_mlx.cli.client import config_file

    config_file.show(config_file.file_of(common, path))


def _with_address(common: Common, where: dict[str, Any]) -> Common:
    """The common options with the address of the engine."""
    from pie_mlx.cli.client import config_file

    common.address = config_file.address(common, where)
    return common
