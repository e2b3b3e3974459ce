"""`pie mcp`"""

from pathlib import Path

import click

from pie_mlx.cli.options import Common, common_options


@click.group
@common_options
def command() -> None:
    """Add, list and try MCP servers, whose tools programs can use."""


@command.command("list")
@common_options
@click.pass_obj
def list_servers(common: Common) -> None:
    """List the configured servers."""
    from pie_mlx.cli.mcp import verbs

    verbs.list_servers(common)


@command.command(options_metavar="[OPTIONS]")
@click.argument("name")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="URL | -- COMMAND ARGS...")
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable of its environment.")
@click.option("--header", multiple=True, metavar="NAME=VALUE", help="With URL: a header of every request.")
@click.option("--from", "file", type=click.Path(path_type=Path), metavar="FILE", help="As an .mcp.json describes NAME.")
@common_options
@click.pass_obj
def add(
    common: Common,
    name: str,
    words: tuple[str, ...],
    env: tuple[str, ...],
    header: tuple[str, ...],
    file: Path | None,
) -> None:
    """Add a server to the configuration. Engines that start from then on have it.

    \b
    pie mcp add files -- npx -y @modelcontextprotocol/server-filesystem /tmp
    pie mcp add search https://example.com/mcp --header "Authorization=Bearer TOKEN"
    """
    from pie_mlx.cli.mcp import verbs

    if bool(words) == (file is not None):
        raise click.UsageError("give a URL, a command after --, or --from")
    verbs.add(common, verbs.described(name, words, env, header, file))


@command.command
@click.argument("name")
@common_options
@click.pass_obj
def remove(common: Common, name: str) -> None:
    """Remove a server from the configuration."""
    from pie_mlx.cli.mcp import verbs

    verbs.remove(common, name)


@command.command
@click.argument("name", required=False)
@click.option("--from", "file", type=click.Path(path_type=Path), metavar="FILE", help="Those of an .mcp.json.")
@common_options
@click.pass_obj
def test(common: Common, name: str | None, file: Path | None) -> int:
    """Connect to all servers, or to NAME, and list their tools. The exit code is 1 if one does not answer."""
    from pie_mlx.cli.mcp import verbs

    return verbs.test(common, name, file)
