"""`pie launch`"""

import click

from pie_mlx.cli.engine.completions import complete_model_or_path
from pie_mlx.cli.launch.clients import CLIENTS
from pie_mlx.cli.options import Common, common_options


def complete_client(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The clients that are known."""
    del ctx, param
    return [name for name in CLIENTS if name.startswith(incomplete)]


@click.command(options_metavar="[OPTIONS]")
@click.argument("client", metavar="CLIENT", shell_complete=complete_client)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGS...]")
@click.option(
    "--model",
    metavar="NAME|REPO|DIR",
    shell_complete=complete_model_or_path,
    help="Serve this model, if no engine runs.",
)
@common_options
@click.pass_obj
def command(common: Common, client: str, arguments: tuple[str, ...], model: str | None) -> int:
    """Start a coding agent that uses the engine, with ARGS of its own: claude, codex, opencode, aider, pi or qwen-code.

    It uses the engine that 'pie serve' has started, or starts one and ends it afterwards. The client gets variables and
    a directory in $PIE_HOME/clients; its usual configuration stays as it is. The exit status is the client's. For any
    other CLIENT the variables are printed as a shell reads them.

    \b
    pie launch claude
    pie launch codex -- exec "Explain this repository."
    eval "$(pie launch shell)"
    """
    from pie_mlx.cli.launch.launching import launch, print_exports

    if client in CLIENTS:
        return launch(client, arguments, model, common)
    if arguments:
        raise click.UsageError(f"'{client}' is none of {', '.join(CLIENTS)}: its variables are printed, without ARGS")
    print_exports(client, common)
    return 0
