"""Imports as a program sees them: its own modules, those of programs it depends on, and `inferlet` for the SDK.

Several programs share one interpreter, each with its own modules. A program's modules live under a unique package name,
and the `__import__` in their builtins translates the imports written in them; code outside them is not affected.
"""

import builtins
import importlib
import importlib.util
import itertools
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from pie_mlx.runtime.program.entry_kind import SDK_ALIAS, EntryKind
from pie_mlx.runtime.program.program import Program

SDK_PACKAGE = "pie_mlx.sdk"
BLOCKING_SDK_PACKAGE = "pie_mlx.sdk.sync"
ALSO_CALLED = {"generation": "generator", "sample": "sampler"}
"""Modules of the SDK that have another name in Pie."""

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
            if not (error.name or "").startswith(SDK_PACKAGE):
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


class SdkFinder(Loader, MetaPathFinder):
    """Finds `inferlet` for imports that programs do not write as such, `importlib.import_module("inferlet.spec")`.

    For a process of one program: what it finds stays in `sys.modules`, where another program would get it, too.
    """

    def __init__(self, entry_kind: EntryKind) -> None:
        self._entry_kind: EntryKind = entry_kind

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import system's hook."""
        del path, target
        top, _, rest = fullname.partition(".")
        is_ours = top == SDK_ALIAS and importlib.util.find_spec(sdk_module(self._entry_kind, rest)) is not None
        return ModuleSpec(fullname, self) if is_ours else None

    def exec_module(self, module: ModuleType) -> None:
        """Puts the SDK's own module in the place of `module`."""
        rest = module.__name__.partition(".")[2]
        sys.modules[module.__name__] = importlib.import_module(sdk_module(self._entry_kind, rest))


def sdk_module(entry_kind: EntryKind, rest: str) -> str:
    """The module that `inferlet` means for an entry kind, or `inferlet.rest`. Both SDKs use the same module where the
    blocking one has none of its own."""
    first, dot, more = rest.partition(".")
    if not first:
        return SDK_PACKAGE if entry_kind == "async" else BLOCKING_SDK_PACKAGE
    if first == "errors":
        return f"pie_mlx.{rest}"
    rest = ALSO_CALLED.get(first, first) + dot + more
    is_own = importlib.util.find_spec(f"{BLOCKING_SDK_PACKAGE}.{rest.partition('.')[0]}") is not None
    return f"{BLOCKING_SDK_PACKAGE if entry_kind != 'async' and is_own else SDK_PACKAGE}.{rest}"


def _source(folder: Path, name: str) -> Path | None:
    candidates = (folder / f"{name}.py", folder / name / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)
