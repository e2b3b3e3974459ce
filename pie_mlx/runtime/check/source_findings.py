"""Mistakes in a program's sources that would fail at run time. Nothing is executed."""

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pie_mlx import errors
from pie_mlx.errors import LaunchError
from pie_mlx.runtime.check.sdk_usage import sdk_usage_findings
from pie_mlx.runtime.program.entry_kind import SDK_ALIAS, EntryKind, entry_functions
from pie_mlx.runtime.program.findings import nearest
from pie_mlx.runtime.program.manifest import HANDLER, Manifest
from pie_mlx.runtime.program.modules import sdk_module
from pie_mlx.runtime.program.program import tree_entry_kind
from pie_mlx.runtime.program.source_text import parse_source


@dataclass(frozen=True, slots=True)
class Code:
    """A program's modules. `directory` is None for a single file; `read` returns None if there is no such file."""

    main_file: Path
    directory: Path | None
    read: Callable[[Path], str | None]

    def module_files(self, dotted: str) -> list[Path]:
        """The program's own files executed when this module, or name of a module, is imported."""
        if self.directory is None:
            return []
        names = dotted.split(".")
        stems = [self.directory.joinpath(*names[:depth]) for depth in range(1, len(names) + 1)]
        found = [next(filter(self._exists, (stem.with_suffix(".py"), stem / "__init__.py")), None) for stem in stems]
        return [file for file in found if file is not None]

    def hides(self, module: str) -> Path | None:
        """A module's file beside a single-file program, which cannot import it."""
        file = self.main_file.with_name(f"{module}.py")
        return file if self.directory is None and self._exists(file) else None

    def _exists(self, file: Path) -> bool:
        return self.read(file) is not None


def code_findings(code: Code, manifest: Manifest) -> list[str]:
    """Wrong parameters of main, failing imports and mistakes in using the SDK, with their lines.

    Imports in an `if`, `try` or `with`, and relative ones, are not checked. Raises LaunchError for a syntax error in
    the main file.
    """
    tree = parse_source(code.read(code.main_file) or "", code.main_file)
    runtime = manifest.runtime
    entry_kind = tree_entry_kind(tree, runtime.entry)
    others = {name.replace("-", "_") for name in manifest.dependencies}
    findings = list(_Modules(code, entry_kind, others).findings())
    if runtime.call == "input" and runtime.entry != HANDLER and (line := _misfit_line(tree, runtime.entry)):
        written = f"{'async def' if entry_kind == 'async' else 'def'} {runtime.entry}(input)"
        findings.append(f"{code.main_file}:{line}: {runtime.entry} does not take one argument: write '{written}'")
    return findings


def _misfit_line(tree: ast.Module, entry: str) -> int:
    """The line of an entry that cannot be called with one argument; 0 if it can."""
    functions = entry_functions(tree, entry)
    if not functions or any(function.decorator_list or _takes_one(function.args) for function in functions):
        return 0
    return functions[0].lineno


def _takes_one(parameters: ast.arguments) -> bool:
    positional = len(parameters.posonlyargs) + len(parameters.args)
    if None in parameters.kw_defaults or positional - len(parameters.defaults) > 1:
        return False
    return positional > 0 or parameters.vararg is not None


class _Import(NamedTuple):
    line: int
    module: str
    name: str = ""


@dataclass(slots=True)
class _Modules:
    """The main file, and the modules of the program reachable by its imports."""

    code: Code
    entry_kind: EntryKind
    dependencies: set[str]
    _seen: set[Path] = field(default_factory=set[Path])

    def findings(self) -> Iterator[str]:
        waiting = [self.code.main_file]
        while waiting:
            file = waiting.pop(0)
            if file in self._seen:
                continue
            self._seen.add(file)
            try:
                tree = parse_source(self.code.read(file) or "", file)
            except LaunchError as error:
                yield error.message
                continue
            found = list(_imports(tree))
            yield from (f"{file}:{one.line}: {problem}" for one in found if (problem := self._problem(one)))
            yield from sdk_usage_findings(tree, file, self.entry_kind)
            waiting += [file for one in found for file in self.code.module_files(f"{one.module}.{one.name}".strip("."))]

    def _problem(self, one: _Import) -> str:
        top = one.module.partition(".")[0]
        if top == SDK_ALIAS:
            return _sdk_problem(one, self.entry_kind)
        if top in self.dependencies or self.code.module_files(top) or _is_installed(top):
            return ""
        if hidden := self.code.hides(top):
            return f"'{hidden.name}' is not part of a single-file program: put both into one directory, this as main.py"
        return f"no module '{top}': put it into the program's directory, or install it beside pie-mlx"


def _imports(tree: ast.Module) -> Iterator[_Import]:
    """Unconditional imports, in line order."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        match waiting.pop():
            case ast.Import(names=names, lineno=line):
                yield from (_Import(line, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0, lineno=line):
                yield from (_Import(line, module, alias.name.strip("*")) for alias in names)
            case ast.If() | ast.Try() | ast.With():
                pass
            case node:
                waiting += reversed(list(ast.iter_child_nodes(node)))


def _sdk_problem(one: _Import, entry_kind: EntryKind) -> str:
    api = "asynchronous" if entry_kind == "async" else "blocking"
    rest = one.module.partition(".")[2]
    home = sdk_module(entry_kind, rest)
    if not _is_installed(home):
        return f"the {api} API has no module '{one.module}'"
    module = importlib.import_module(home)
    if not one.name or hasattr(module, one.name) or _is_installed(f"{home}.{one.name}"):
        return ""
    known: Iterable[str] = getattr(module, "__all__", dir(module))
    advice = ": it is in 'inferlet.errors'" if hasattr(errors, one.name) else nearest(one.name, known)
    return f"'{one.module}' has no '{one.name}' in the {api} API{advice}"


def _is_installed(module: str) -> bool:
    if module in sys.modules or module in sys.stdlib_module_names:
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
