"""xgrammar's native library without its Python package, which would import torch.

The library takes any int32 buffer, hence numpy arrays. All of this is private to xgrammar, so its versions are pinned,
and it is tried out in a process of its own once: a crash there is a reason not to use it, not the engine's end.
"""

import importlib.util
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from pie_mlx.errors import GrammarError

_VERSIONS = {"xgrammar": ((0, 2, 8), (0, 3)), "apache-tvm-ffi": ((0, 1, 15), (0, 2))}
_CLASSES = ("TokenizerInfo", "GrammarCompiler", "GrammarMatcher", "CompiledGrammar", "Grammar")
_PROBE_SECONDS = 60
_lock = threading.Lock()


@contextmanager
def _without(module: str) -> Generator[None]:
    """Make a module look absent while something is imported that would load it."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # pyright: ignore[reportArgumentType]
    try:
        yield
    finally:
        del sys.modules[module]


def _version(distribution: str) -> tuple[int, ...]:
    numbers = metadata.version(distribution).split(".")[:3]
    return tuple(int("".join(filter(str.isdigit, number)) or 0) for number in numbers)


def _unsupported() -> str:
    """Why the installed versions cannot be used, "" when they can."""
    for distribution, (lowest, next_major) in _VERSIONS.items():
        try:
            found = _version(distribution)
        except metadata.PackageNotFoundError:
            return f"{distribution} is not installed"
        if not lowest <= found < next_major:
            return f"{distribution} {metadata.version(distribution)} is not among the supported versions"
    return ""


@cache
def load() -> Any:
    """The classes of the native library, by their names. Raises GrammarError when it cannot be loaded."""
    with _lock, _without("torch"):
        try:
            import tvm_ffi
        except ImportError as error:
            raise GrammarError(f"xgrammar: {error}", hint="make grammar") from error
    spec = importlib.util.find_spec("xgrammar")
    folders = [Path(path) for path in (spec.submodule_search_locations or ())] if spec else []
    ffi: Any = tvm_ffi
    library = ffi.libinfo.load_lib_module("xgrammar", "xgrammar_bindings", extra_lib_paths=folders)
    classes = {
        name: ffi.register_object(f"xgrammar.tvm_ffi_binding.{name}")(type(name, (ffi.Object,), {}))
        for name in _CLASSES
    }
    return SimpleNamespace(library=library, **classes)


def smoke_test() -> None:
    """Walk a tiny grammar through masks, acceptance and rollback. Raises GrammarError if anything goes wrong."""
    classes = load()
    info = classes.TokenizerInfo(list("abcdefghij"), 0, 10, [9], False)
    compiler = classes.GrammarCompiler(info, 1, True, -1)
    matcher = classes.GrammarMatcher(
        compiler.compile_grammar_from_strings('root ::= "a" ("b"|"c")+', "root"), None, False, -1, None
    )
    row = np.zeros((1, 1), np.int32)
    seen: list[int] = []
    for change in (lambda: None, lambda: matcher.accept_token(0, False), lambda: matcher.rollback(1)):
        change()
        matcher.fill_next_token_bitmask(row, 0, False)
        seen.append(int(row[0, 0]))
    if seen != [0b1, 0b110, 0b1] or "torch" in sys.modules:
        raise GrammarError(f"xgrammar: its masks are {seen}", hint="install a supported version")


@cache
def unavailable_because() -> str:
    """Why xgrammar is not used, "" when it is. The first call takes about a second."""
    reason = _unsupported()
    if reason:
        return reason
    probe = f"from {__name__} import smoke_test; smoke_test()"
    try:
        done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=_PROBE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"its trial run failed: {error}"
    last_line = done.stderr.strip().rpartition("\n")[2]
    return "" if done.returncode == 0 else f"its trial run ended with status {done.returncode}: {last_line}"
