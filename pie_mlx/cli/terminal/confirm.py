"""Asking before something is lost."""

import sys

import click


def confirm(question: str, *, refusal: str, yes: bool) -> None:
    """Ask on a terminal unless `yes`. Raises ClickException for a no, and UsageError where nobody can answer.

    `refusal` says what a no has spared.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Nobody is there to answer: say yes with -y")
    if not click.confirm(question, err=True):
        raise click.ClickException(f"{refusal}: the answer was no")
