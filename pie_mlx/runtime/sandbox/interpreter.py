"""The paths of the running interpreter and its libraries, and the command that starts it again."""

import functools
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pie_mlx

_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/local/lib", "/usr/share/zoneinfo")
_HOMEBREW = "/opt/homebrew"
_SYSTEM_FILES = ("/etc/localtime", "/etc/ld.so.cache", "/dev/urandom", "/dev/random", "/dev/zero")

_SAME_PACKAGES = """
import sys
from importlib.machinery import PathFinder
root = sys.argv.pop(1)
sys.path.append(root)
class SamePackages:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return PathFinder.find_spec(name, [root]) if name in ("pie_mlx", "inferlet") else None
sys.meta_path.insert(0, SamePackages)
"""


SAME_HASHES = {"PYTHONHASHSEED": "0"}
"""The environment in which sets of texts have the same order in every run."""


def isolated_python(code: str, *arguments: str, same_hashes: bool = False) -> list[str]:
    """The command line that runs `code` with this copy of the packages, even if another is installed.

    -I: the caller's directory and environment variables do not affect imports. With `same_hashes` the environment is
    read, for SAME_HASHES: the caller gives it no other variable of Python.
    """
    root = str(Path(pie_mlx.__file__).parents[1])
    isolated = ("-s", "-P") if same_hashes else ("-I",)
    return [sys.executable, *isolated, "-c", _SAME_PACKAGES + code, root, *arguments]


@functools.cache
def interpreter_paths() -> tuple[str, ...]:
    """Paths that any Python program must read: the interpreter, its packages and the system's libraries."""
    package = Path(pie_mlx.__file__).resolve().parent
    found = [os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path) if path]
    # A checkout on the path contains more than the package.
    own = [
        path
        for path in dict.fromkeys(found)
        if path not in ("/", str(package.parent)) or path.endswith("site-packages")
    ]
    return (*own, str(package), str(package.parent / "inferlet"), *system_paths(found))


def system_paths(prefixes: Iterable[str]) -> tuple[str, ...]:
    """Paths that any program must read: the system's libraries, and Homebrew's beside these prefixes."""
    return (*_homebrew(prefixes), *_SYSTEM, *_SYSTEM_FILES)


def _homebrew(prefixes: Iterable[str]) -> tuple[str, ...]:
    """Homebrew keeps the libraries of extension modules beside the interpreter; pyenv builds link to the same ones."""
    roots = {_HOMEBREW, *(prefix.partition("/Cellar/")[0] for prefix in prefixes if "/Cellar/" in prefix)}
    return tuple(f"{root}/{part}" for root in sorted(roots) for part in ("Cellar", "opt", "lib"))
