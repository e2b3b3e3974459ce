"""`pie config`"""

from pathlib import Path

import click

from pie_mlx.cli.options import Common, common_options


def complete_key(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The keys, with the places of lists as they are in the file."""
    del ctx, param
    from pie_mlx.cli.config.verbs import known_keys

    return [key for key in known_keys() if key.startswith(incomplete)]


@click.group
@common_options
def command() -> None:
    """Show and change the configuration."""


@command.command
@common_options
@click.pass_obj
def show(common: Common) -> None:
    """Print every value with its origin."""
    from pie_mlx.cli.config import verbs

    verbs.show(common)


@command.command
@click.argument("key", shell_complete=complete_key)
@common_options
@click.pass_obj
def get(common: Common, key: str) -> None:
    """Print one value, such as model.0.hf_repo or model.NAME.hf_repo."""
    from pie_mlx.cli.config import verbs

    verbs.get(common, key)


@command.command("set")
@click.argument("key", shell_complete=complete_key)
@click.argument("value")
@common_options
@click.pass_obj
def set_value(common: Common, key: str, value: str) -> None:
    """Change one value in the file and keep its comments. Nothing is written unless the result is valid as a whole."""
    from pie_mlx.cli.config import verbs

    verbs.set_value(common, key, value)


@command.command
@click.option("--path", type=click.Path(path_type=Path), metavar="PATH", help="Write to this file.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@common_options
@click.pass_obj
def init(common: Common, path: Path | None, force: bool) -> None:
    """Write a commented file with every key and its default."""
    from pie_mlx.cli.config import verbs

    verbs.init(common, path, force)


@command.command
@common_options
@click.pass_obj
def schema(common: Common) -> None:
    """Print the JSON Schema of config.toml: every key with its type, default, rule and meaning."""
    from pie_mlx.cli.config import verbs

    verbs.schema(common)
