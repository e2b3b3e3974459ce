"""The text of a program's file, and its syntax tree."""

import ast
from pathlib import Path

from pie_mlx.documents import read_limited
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program.findings import nearest_path
from pie_mlx.syntax import parsing

SOURCE_LIMIT_BYTES = 1 << 20
"""Longer files are treated as data."""


def read_text(file: Path) -> str:
    """Raises LaunchError if it is not readable UTF-8 text, or longer than SOURCE_LIMIT_BYTES."""
    try:
        data = read_limited(file, SOURCE_LIMIT_BYTES)
        return data.decode().replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        close = nearest_path(file)
        hint = f"did you mean '{close}'?" if close else "check the path"
        raise LaunchError(f"{file}: no such file", hint=hint) from None
    except InvalidArgumentError as error:
        raise LaunchError(f"{file}: {error}", hint="keep data in a file of its own, and read it when it runs") from None
    except UnicodeDecodeError as error:
        raise LaunchError(f"{file}: not UTF-8 (byte {error.start})", hint="save it as UTF-8") from None
    except OSError as error:
        raise LaunchError(f"{file}: {error.strerror}", hint="check the path and its permissions") from None


def parse_source(source: str, file: Path) -> ast.Module:
    """Raises LaunchError for a syntax error. Untrusted text may take long to parse: see `source_reading`."""
    try:
        with parsing():
            return ast.parse(source, str(file))
    except SyntaxError as error:
        raise LaunchError(f"{file}:{error.lineno or 1}: {error.msg}", hint="correct the syntax") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise unreadable(file, error) from None


def unreadable(file: Path, error: Exception) -> LaunchError:
    """The error for a source that Python cannot parse: too deep, too large, or not text."""
    return LaunchError(
        f"{file}: Python cannot read it: {str(error) or 'it is too deep or too large'}",
        hint="flatten deep expressions, and keep data in files of its own",
    )
