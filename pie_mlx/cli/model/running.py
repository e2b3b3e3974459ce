"""Verbs for the models of the running engine."""

import json
from typing import TYPE_CHECKING

import click

from pie_mlx.cli.options import Common, common_options

if TYPE_CHECKING:
    from pie_mlx.client import Client


@click.command("ps")
@common_options
@click.pass_obj
def running(common: Common) -> None:
    """List the models of the running engine, with their states."""
    from pie_mlx.cli.engine.running_models import list_running

    list_running(common)


@click.command
@click.argument("name", metavar="NAME")
@common_options
@click.pass_obj
def load(common: Common, name: str) -> None:
    """Load a model of the running engine into memory."""
    from pie_mlx.cli.engine.connection import with_client

    async def work(client: "Client") -> None:
        await client.models.load(name)

    with_client(common, work)
    print(json.dumps({"loaded": name}) if common.json else f"loaded {name}")


@click.command
@click.argument("name", metavar="NAME")
@common_options
@click.pass_obj
def unload(common: Common, name: str) -> None:
    """Give back the memory of a model of the running engine. It is loaded again when it is wanted."""
    from pie_mlx.cli.engine.connection import with_client

    async def work(client: "Client") -> None:
        await client.models.unload(name)

    with_client(common, work)
    print(json.dumps({"unloaded": name}) if common.json else f"unloaded {name}")
