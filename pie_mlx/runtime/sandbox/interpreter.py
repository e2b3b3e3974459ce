"""Where the running interpreter and its libraries lie."""

import functools
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pie_mlx

_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo")
_SYSTEM_FILES = ("/etc/localtime", "/etc/ld.so.cache", "/dev/urandom", "/dev/random", "/dev/zero")


@functools.cache
def interpreter_paths() -> tuple[str, ...]:
    """What a Python program has to read to run at all: the interpreter, its packages and the system's libraries."""
    package = Path(pie_mlx.__file__).resolve().parent
    found = [os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path) if path]
    # A checkout on the path is more than the package in it.
    own = [
        path
        for path in dict.fromkeys(found)
        if path not in ("/", str(package.parent)) or path.endswith("site-packages")
    ]
    return (*own, *_homebrew(found), str(package), *_SYSTEM, *_SYSTEM_FILES)


def _homebrew(prefixes: Iterable[str]) -> tuple[str, ...]:
    """Where an interpreter of Homebrew has the libraries of its extension modules: beside it, not in it."""
    roots = {prefix.partition("/Cellar/")[0] for prefix in prefixes if "/Cellar/" in prefix}
    return tuple(f"{root}/{part}" for root in sorted(roots) for part in ("Cellar", "opt", "lib"))
