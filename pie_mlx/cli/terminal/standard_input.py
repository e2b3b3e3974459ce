"""What is piped into a command."""

import os
import stat
import sys

import click


def piped_text() -> str:
    """All that is piped in. Raises UsageError where it is not UTF-8."""
    try:
        text = sys.stdin.read()
        text.encode()  # where the locale says nothing of an encoding, wrong bytes are read as lone surrogates
    except UnicodeError:
        raise click.UsageError("what is piped in is not UTF-8 text: convert it first, for example with iconv") from None
    return text


def is_piped() -> bool:
    """Whether input comes from a pipe or a file."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
