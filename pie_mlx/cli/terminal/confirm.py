"""Ask for confirmation."""

import sys

import click


def confirm(question: str, *, refusal: str, yes: bool) -> None:
    """Ask on a terminal unless `yes`. Raises ClickException for a no, and UsageError without a terminal.

    `refusal` says what was not done.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} There is no terminal to ask on: confirm with -y")
    if not click.confirm(question, err=True):
        raise click.ClickException(f"{refusal}: the answer was no")
