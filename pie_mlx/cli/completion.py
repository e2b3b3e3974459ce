"""`pie completion`"""

import click
from click.shell_completion import get_completion_class

from pie_mlx.cli.options import common_options

VARIABLE = "_PIE_COMPLETE"
"""Set by the shell when it asks for completions; click derives it from the command's name."""


@click.command
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@common_options
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes verbs, options and names in a shell: programs, processes, models, settings.

    \b
    bash   eval "$(pie completion bash)"          in ~/.bashrc (bash 4.4 or newer)
    zsh    eval "$(pie completion zsh)"           in ~/.zshrc, after compinit
    fish   pie completion fish | source           in ~/.config/fish/config.fish
    """
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for {shell}")
    print(completion(ctx.find_root().command, {}, "pie", VARIABLE).source())
