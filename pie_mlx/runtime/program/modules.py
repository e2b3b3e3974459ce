"""Imports as a program sees them: its own modules, those of programs it depends on, and its form of `inferlet`.

Several programs share one interpreter, each with its own modules. A program's modules live under a unique package name,
and the `__import__` in their builtins translates the imports written in them; code outside them is not affected.
"""

import builtins
import importlib
import importlib.util
import itertools
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from pie_mlx.runtime.program.entry_kind import SDK_ALIAS, EntryKind
from pie_mlx.runtime.program.program import Program

BLOCKING_SDK = f"{SDK_ALIAS}.sync"

_numbers = itertools.count(1)


class ModuleSpace:
    """The modules of one running program, until `close`.

    `entry_kind` says how its main file is written; it decides which SDK the modules of the program and of its
    dependencies see.
    """

    def __init__(self, program: Program, entry_kind: EntryKind = "async") -> None:
        self._program = program
        self.entry_kind: EntryKind = entry_kind
        self._package = f"pie_program_{next(_numbers)}"
        self._dependencies = {
            name.replace("-", "_"): ModuleSpace(needed, entry_kind) for name, needed in program.dependencies.items()
        }
        self._builtins = {**vars(builtins), "__import__": self._import}
        root = ModuleType(self._package)
        root.__path__ = [str(program.directory)] if program.directory else []
        sys.modules[self._package] = root
        sys.meta_path.insert(0, self)

    def load_main(self) -> ModuleType:
        """Execute the program's main file. Raises what its top level raises."""
        return importlib.import_module(f"{self._package}.main")

    def close(self) -> None:
        """Remove the program's modules from the interpreter."""
        for space in self._dependencies.values():
            space.close()
        sys.meta_path.remove(self)
        # A copy: programs on other threads may import at the same time.
        for name in [name for name in list(sys.modules) if name.partition(".")[0] == self._package]:
            del sys.modules[name]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import system's hook; finds only modules of this program."""
        del target
        if fullname.partition(".")[0] != self._package:
            return None
        if fullname == f"{self._package}.main":
            return self._spec(fullname, self._program.main_file)
        sources = (_source(Path(folder), fullname.rpartition(".")[2]) for folder in path or ())
        return next((self._spec(fullname, source) for source in sources if source), None)

    def _spec(self, fullname: str, source: Path) -> ModuleSpec | None:
        return importlib.util.spec_from_file_location(
            fullname,
            source,
            loader=_ProgramLoader(fullname, str(source), self._builtins),
            submodule_search_locations=[str(source.parent)] if source.name == "__init__.py" else None,
        )

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top, dot, rest = name.partition(".")
        if top == SDK_ALIAS and level == 0:
            return self._import_sdk(rest, fromlist or ())
        home = self._home(top) if level == 0 else None
        if home is None:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = builtins.__import__(home + dot + rest, globals, locals, fromlist or ("__name__",))
        return module if fromlist else sys.modules[home]

    def _import_sdk(self, rest: str, names: Sequence[str]) -> ModuleType:
        """What `import inferlet.rest` binds, or `from inferlet.rest import names` reads. Raises ImportError."""
        written = f"{SDK_ALIAS}.{rest}".strip(".")
        package = importlib.import_module(sdk_module(self.entry_kind, ""))
        try:
            module = builtins.__import__(sdk_module(self.entry_kind, rest), None, None, names or ("__name__",))
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith(SDK_ALIAS):
                raise
            raise ModuleNotFoundError(f"No module named {written!r}", name=written) from None
        missing = next((name for name in names if name != "*" and not hasattr(module, name)), None)
        if missing is not None:
            raise ImportError(f"cannot import name {missing!r} from {written!r}", name=written)
        return module if names else package

    def _home(self, top: str) -> str | None:
        """The real name of a top-level module a program imports; None if the name needs no translation."""
        directory = self._program.directory
        if directory and _source(directory, top):
            return f"{self._package}.{top}"
        return self._dependencies[top].package if top in self._dependencies else None

    @property
    def package(self) -> str:
        """The package name of the program's modules in this interpreter."""
        return self._package


class _ProgramLoader(SourceFileLoader):
    """Executes source with a program's builtins, and writes no byte code to the program's directory."""

    def __init__(self, name: str, path: str, builtins: Mapping[str, object]) -> None:
        super().__init__(name, path)
        self._builtins = builtins

    def exec_module(self, module: ModuleType) -> None:
        # exec keeps builtins that are already set, and functions keep the builtins of their globals.
        module.__dict__["__builtins__"] = dict(self._builtins)
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return self.source_to_code(self.get_data(self.path), self.path)


def sdk_module(entry_kind: EntryKind, rest: str) -> str:
    """The module that `inferlet` means for an entry kind, or `inferlet.rest`. A blocking program gets the asynchronous
    one where the blocking SDK has none of its own."""
    if not rest:
        return SDK_ALIAS if entry_kind == "async" else BLOCKING_SDK
    first = rest.partition(".")[0]
    has_form = entry_kind != "async" and first != "sync" and importlib.util.find_spec(f"{BLOCKING_SDK}.{first}")
    return f"{BLOCKING_SDK if has_form else SDK_ALIAS}.{rest}"


def _source(folder: Path, name: str) -> Path | None:
    candidates = (folder / f"{name}.py", folder / name / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)
