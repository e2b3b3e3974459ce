"""`pie chat`"""

import json
import sys
from pathlib import Path
from typing import Any

import click

import pie_mlx
from pie_mlx.cli.options import Common, common_options
from pie_mlx.cli.run import RunRequest
from pie_mlx.cli.talking import is_at_terminal

PROGRAM = Path(pie_mlx.__file__).parent / "builtin" / "chat"


@click.command(options_metavar="[OPTIONS]")
@click.argument("question", required=False)
@click.option("--model", metavar="NAME|REPO|DIR", help="Talk to this model.")
@click.option("--system", metavar="TEXT", help="The system message.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Longest answer.")
@click.option("--temperature", type=click.FloatRange(min=0), metavar="T", help="0 takes the likeliest token each time.")
@common_options
@click.pass_obj
def command(common: Common, question: str | None, model: str | None, **given: Any) -> int:
    """Talk to a model, line by line, until Ctrl-D.

    It runs on the engine that 'pie serve' has started, or else on one of its own. QUESTION is the first line; what is
    piped in is the question where none is given.

    \b
    pie chat "Who are you?"
    pie chat --model mlx-community/Qwen3-0.6B-4bit
    """
    from pie_mlx.cli.running import run_request

    asked = {"question": question or _piped(), **{name: value for name, value in given.items() if value is not None}}
    return run_request(_request(model, {**asked, "prompts": is_at_terminal() and not common.json}), common)


def _piped() -> str:
    """What is not typed but given; "" where somebody will type."""
    if is_at_terminal():
        return ""
    text = sys.stdin.read().strip()
    if not text:
        raise click.UsageError("nothing is asked: give a QUESTION, or type at a terminal")
    return text


def _request(model: str | None, value: dict[str, Any]) -> RunRequest:
    return RunRequest(
        path=PROGRAM,
        manifest=None,
        model=model,
        dummy=False,
        input=json.dumps(value),
        words=(),
        timeout_seconds=None,
        token_budget=None,
        files=None,
    )
