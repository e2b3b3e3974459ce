"""`pie chat`"""

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from pie_mlx.cli.engine.completions import complete_model_or_path
from pie_mlx.cli.options import Common, Number, Whole, common_options
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.standard_input import is_at_terminal, is_piped, piped_text


@click.command(options_metavar="[OPTIONS]")
@click.argument("question", nargs=-1, metavar="[QUESTION]")
@click.option(
    "--model", metavar="NAME|REPO|DIR|GGUF", shell_complete=complete_model_or_path, help="Talk to this model."
)
@click.option("--system", metavar="TEXT", help="The system message.")
@click.option("--max-tokens", type=Whole(min=1), metavar="N", help="Longest answer.")
@click.option("--think", type=Whole(min=0), metavar="N", help="Longest thought before an answer, in tokens.")
@click.option("--temperature", type=Number(min=0), metavar="T", help="0 always takes the most likely token.")
@click.option(
    "--template", multiple=True, metavar="NAME=VALUE", help="Set a variable of its chat template. Repeatable."
)
@common_options
@click.pass_obj
def command(
    common: Common, question: tuple[str, ...], model: str | None, template: tuple[str, ...], **given: Any
) -> int:
    """Talk to a model until Ctrl-D, or get one QUESTION answered.

    It uses the engine that 'pie serve' has started. It starts one of its own where none runs, where that engine serves
    another model than --model, and with --config. Where neither an engine nor the configuration says which model to
    talk to, a conversation begins with a choice of those on this disk. Piped text is appended to the QUESTION, or is
    the question. In a conversation Ctrl-C stops an answer, pasted lines stay together, and /? lists the commands.

    \b
    pie chat "Who are you?"
    git diff | pie chat "Write a commit message."
    pie chat --model mlx-community/Qwen3-0.6B-4bit --template enable_thinking=false
    """
    from pie_mlx.cli.run.dispatch import run_request
    from pie_mlx.runtime.daemon.builtin_programs import BUILTIN

    asked = _question(" ".join(question))
    takes_turns = not asked and sys.stdout.isatty() and not (common.json or common.quiet)
    if takes_turns and model is None:
        model = _offered_model(common)
    value = {name: setting for name, setting in given.items() if setting is not None}
    value |= {"question": asked, "interactive": takes_turns, "template": json.dumps(_variables(template))}
    request = RunRequest(
        BUILTIN / "chat", model=model, input=json.dumps(value), is_builtin=True, takes_turns=takes_turns
    )
    return run_request(request, common)


def _offered_model(common: Common) -> str | None:
    """The model that the user picks of those on this disk; None where an engine or the configuration says which."""
    from pie_mlx.client.discovery import find_engine
    from pie_mlx.config import load_config, pie_home

    if common.config is not None or find_engine(common.url, os.environ, pie_home(os.environ)) is not None:
        return None
    if load_config().settings["model.0.hf_repo"].origin != "default":
        return None
    from pie_mlx.runtime.models import models_on_disk

    models = sorted((one for one in models_on_disk() if not one.suitability.problem), key=lambda one: one.embedded)
    if len(models) < 2:
        return None
    print("\n".join(f"{number:>3}  {one.name}" for number, one in enumerate(models, 1)), file=sys.stderr)
    hint = "'pie config set model.0.hf_repo NAME' makes one the usual one"
    number = click.prompt(f"Which model ({hint})", type=click.IntRange(1, len(models)), default=1, err=True)
    return models[number - 1].name


def _variables(words: Iterable[str]) -> dict[str, Any]:
    """Values that parse as JSON are JSON; all others are text."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--template {word}: write NAME=VALUE, as in enable_thinking=false")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _question(question: str) -> str:
    """QUESTION, the piped text, or one above the other; "" where the user will type at a terminal."""
    if is_at_terminal() or (question and not is_piped()):
        return question
    text = "\n\n".join(part for part in (question, piped_text().strip()) if part)
    if not text:
        raise click.UsageError("there is no question: give a QUESTION, or type at a terminal")
    return text
