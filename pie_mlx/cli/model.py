"""`pie model`"""

import sys

import click

from pie_mlx.cli.options import Common, common_options


@click.group
@common_options
def command() -> None:
    """Fetch models."""


@click.command
@click.argument("repo")
@common_options
@click.pass_obj
def download(common: Common, repo: str) -> None:
    """Fetch a model's files into the Hugging Face cache, and print where they are."""
    from pie_mlx.engine.model.sources import find_model

    print(find_model(repo, allow_download=True, progress=_ignore if common.quiet else _say))


command.add_command(download)
command.add_command(download, "pull")


def _say(line: str) -> None:
    print(f"pie: {line}", file=sys.stderr)


def _ignore(line: str) -> None:
    del line
