"""`pie chat`"""

import json
import sys
from collections.abc import Iterable
from typing import Any

import click

from pie_mlx.cli.options import Common, Number, Whole, common_options
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.standard_input import is_at_terminal, is_piped, piped_text


@click.command(options_metavar="[OPTIONS]")
@click.argument("question", nargs=-1, metavar="[QUESTION]")
@click.option("--model", metavar="NAME|REPO|DIR", help="Talk to this model.")
@click.option("--system", metavar="TEXT", help="The system message.")
@click.option("--max-tokens", type=Whole(min=1), metavar="N", help="Longest answer.")
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
    another model than --model, and with --config. Piped text is appended to the QUESTION, or is the question. In a
    conversation Ctrl-C stops an answer, pasted lines stay together, and /? lists the commands.

    \b
    pie chat "Who are you?"
    git diff | pie chat "Write a commit message."
    pie chat --model mlx-community/Qwen3-0.6B-4bit --template enable_thinking=false
    """
    from pie_mlx.cli.run.dispatch import run_request
    from pie_mlx.runtime.daemon.builtin_programs import BUILTIN

    asked = _question(" ".join(question))
    takes_turns = not asked and sys.stdout.isatty() and not (common.json or common.quiet)
    value = {name: setting for name, setting in given.items() if setting is not None}
    value |= {"question": asked, "interactive": takes_turns, "template": json.dumps(_variables(template))}
    request = RunRequest(
        BUILTIN / "chat", model=model, input=json.dumps(value), is_builtin=True, takes_turns=takes_turns
    )
    return run_request(request, common)


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
