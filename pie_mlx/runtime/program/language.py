"""The languages of programs, told apart by their main files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pie_mlx.documents import read_limited
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program import component_source as component
from pie_mlx.runtime.program import javascript_source as javascript
from pie_mlx.runtime.program.javascript_source import PACKAGE, PACKAGE_LIMIT_BYTES, package_main
from pie_mlx.runtime.program.python_source import SUFFIX, check_python, read_python

WorkerKind = Literal["python", "node"]
"""What a forked worker becomes: it stays the interpreter of the fork server, or executes Node."""


@dataclass(frozen=True, slots=True)
class Language:
    """What a language supplies.

    `main_names` are main files of a directory, the first that exists counts. `comment` begins a comment, for a manifest
    in the main file; "" where there can be none. `read` gives the text of a main file for that, and `check` looks into
    the text, for an entry of that name; both raise LaunchError.
    """

    name: str
    suffixes: tuple[str, ...]
    main_names: tuple[str, ...]
    comment: str
    worker: WorkerKind
    read: Callable[[Path], str]
    check: Callable[[str, Path, str], None]


PYTHON = Language("Python", (SUFFIX,), ("main.py",), "#", "python", read_python, check_python)
JAVASCRIPT = Language(
    "JavaScript",
    javascript.SUFFIXES,
    javascript.NAMES,
    "//",
    "node",
    javascript.read_javascript,
    javascript.check_javascript,
)
WEBASSEMBLY = Language(
    "WebAssembly",
    (component.SUFFIX,),
    (component.NAME,),
    "",
    "python",
    component.read_component,
    component.check_component,
)
LANGUAGES = (PYTHON, JAVASCRIPT, WEBASSEMBLY)
SUFFIXES = tuple(suffix for language in LANGUAGES for suffix in language.suffixes)


def language_of(main_file: Path) -> Language:
    """The language of a main file. One with an unknown suffix is read as Python."""
    return next((one for one in LANGUAGES if main_file.suffix in one.suffixes), PYTHON)


def main_in(directory: Path) -> Path | None:
    """The main file of a directory; None if it is no program. Raises LaunchError for a broken package.json."""

    def read_package() -> bytes:
        file = directory / PACKAGE
        try:
            return read_limited(file, PACKAGE_LIMIT_BYTES)
        except InvalidArgumentError as error:
            raise LaunchError(f"{file}: {error.message}", hint="shorten it, or remove it") from None
        except OSError as error:
            raise LaunchError(f"{file}: {error.strerror}", hint="check its permissions") from None

    name = main_among(lambda name: (directory / name).is_file(), read_package)
    return None if name is None else directory / name


def main_among(exists: Callable[[str], bool], read_package: Callable[[], bytes]) -> str | None:
    """The main file among files of which `exists` knows; None if there is none. Raises LaunchError as `main_in`."""
    (python,) = PYTHON.main_names
    if not exists(python) and exists(PACKAGE) and (named := package_main(read_package(), exists)) is not None:
        return named
    return next((name for language in LANGUAGES for name in language.main_names if exists(name)), None)
