"""Asking before something is lost."""

import sys

import click


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal unless `yes`. Raises ClickException for a no, and UsageError where nobody can answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Nobody is there to answer: say yes with -y")
    if not click.confirm(question, err=True):
        raise click.ClickException("nothing was removed: the answer was no")
