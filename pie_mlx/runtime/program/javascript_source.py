"""The main file of a program in JavaScript or TypeScript. Nothing is executed."""

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from pie_mlx.documents import json_object
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program.manifest import HANDLER
from pie_mlx.runtime.program.source_text import read_text

SUFFIXES = (".ts", ".mts", ".mjs", ".js")
NAMES = tuple(f"{stem}{suffix}" for stem in ("main", "index") for suffix in (".ts", ".mjs", ".js"))
PACKAGE = "package.json"
PACKAGE_LIMIT_BYTES = 1 << 20
_EXPORTED_HANDLER = re.compile(
    r"\bexport\b\s*(?:(?:async\s+)?(?:function|const|let|var)\b\s*)?(?:NAME\b|\{[^{}]*\bNAME\b|\*)".replace(
        "NAME", HANDLER
    )
)


def check_javascript(source: str, file: Path, entry: str) -> None:
    """Raises LaunchError if the text exports no entry. Node says the rest when the program begins."""
    if (
        re.search(rf"\b{re.escape(entry)}\b", source) is None
        and "export *" not in source
        and not exports_handler(source)
    ):
        raise LaunchError(
            f"{file}: no 'export async function {entry}(input)'",
            hint="define it: the value that it returns is the result of the program",
        )


def exports_handler(source: str) -> bool:
    """Whether the text exports a handler of requests, or may do so. Node says the rest at the first request."""
    return _EXPORTED_HANDLER.search(source) is not None


def read_javascript(file: Path) -> str:
    """The text of a program's file. Raises LaunchError."""
    return read_text(file)


def package_main(package: bytes, exists: Callable[[str], bool]) -> str | None:
    """The file that `main` of a package.json names, relative to it; None without one.

    Raises LaunchError for a broken package.json, and if the file is no program or does not exist.
    """
    try:
        main = json_object(package, PACKAGE_LIMIT_BYTES).get("main")
    except InvalidArgumentError as error:
        raise LaunchError(f"{PACKAGE}: {error.message}", hint="correct it, or remove it") from None
    if main is None:
        return None
    path = PurePosixPath(main) if isinstance(main, str) else None
    if path is None or path.is_absolute() or ".." in path.parts or "\0" in str(path):
        raise LaunchError(f"{PACKAGE}: main is not a path in its directory", hint='name a file: "main": "main.ts"')
    if path.suffix not in SUFFIXES:
        raise LaunchError(
            f"{PACKAGE}: main is '{main}', not a {', '.join(SUFFIXES)} file",
            hint="a program is an ES module; it may import what is written in another way",
        )
    if not exists(str(path)):
        raise LaunchError(f"{PACKAGE}: main is '{main}', and there is no such file", hint="correct the path")
    return str(path)
