"""Report errors of a command line."""

import errno
import json
import sys
import traceback

import click

from pie_mlx.cli.options import Common
from pie_mlx.errors import PieError
from pie_mlx.files import disk_hint

FAILED, WRONG_COMMAND_LINE, INTERRUPTED = 1, 2, 130
"""Exit codes besides 0."""


def report_failure(error: BaseException, common: Common) -> int:
    """Print an error to standard error and return the exit code."""
    if common.debug:
        traceback.print_exception(error)
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and not common.json:
        print(error.format_message(), file=sys.stderr)
        return WRONG_COMMAND_LINE
    if isinstance(error, click.UsageError):
        report(error.format_message(), _usage_hint(error), "UsageError", common)
        return WRONG_COMMAND_LINE
    if isinstance(error, PieError):
        report(error.message, error.hint, type(error).__name__, common)
    elif isinstance(error, click.ClickException):
        report(error.format_message(), "", type(error).__name__, common)
    elif isinstance(error, OSError) and (error.filename is not None or error.errno == errno.ENOSPC):
        # A fault of the machine, not a bug. An error of standard output carries no file name.
        what = "output" if error.filename is None else error.filename
        report(
            f"{what}: {error.strerror}",
            disk_hint(error, "check the path, its permissions and the disk"),
            type(error).__name__,
            common,
        )
    elif _is_of_mlx(error):
        report(f"MLX cannot be used: {error}", "run 'pie doctor'", type(error).__name__, common)
    else:
        why = f"{type(error).__name__}: {error}"
        report(f"internal error: {why}", "run it again with --debug and report this", type(error).__name__, common)
    return FAILED


def _is_of_mlx(error: BaseException) -> bool:
    """Whether MLX is not installed or does not load here, or finds no GPU on a Mac."""
    missing = isinstance(error, ImportError) and (error.name or "").partition(".")[0] in ("mlx", "mlx_lm")
    return missing or (isinstance(error, RuntimeError) and "No Metal device" in str(error))


def warn(line: str) -> None:
    """Print a warning to standard error. Any thread may call it."""
    print(f"pie: warning: {line}", file=sys.stderr, flush=True)


def report(message: str, hint: str, type: str, common: Common) -> None:
    """`pie: <what>: <why>` and `try: <what to do>`, or the same as JSON."""
    if common.json:
        text = json.dumps({"error": {"type": type, "message": message, "hint": hint}}, ensure_ascii=False)
    else:
        text = f"pie: {message}" + (f"\n     try: {hint}" if hint else "")
    print(text, file=sys.stderr)


def _usage_hint(error: click.UsageError) -> str:
    return f"{error.ctx.command_path} --help" if error.ctx else "pie --help"
