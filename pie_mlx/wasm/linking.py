"""Joins what a component imports to what it is offered. Nothing of the component runs."""

from collections.abc import Callable, Iterator
from typing import Any, Never

from wasmtime import Engine
from wasmtime import component as wit

from pie_mlx.errors import LaunchError, ProcessError
from pie_mlx.wasm.binding.functions import Calls
from pie_mlx.wasm.binding.resources import Resources
from pie_mlx.wasm.facts import Facts
from pie_mlx.wasm.offered import OFFERED, refusal
from pie_mlx.wasm.offers import Interface, arity

RUN = "run"
HANDLER = "wasi:http/incoming-handler"
_SUPPORTED = (
    "this engine runs components of Pie's WIT 0.4.0 (pie:core, pie:instruct, pie:mcp, pie:zo), pie-mlx:rules 0.1 and "
    "WASI 0.2"
)
_INTERPRETER_HINT = "run the Python source itself: 'pie run main.py'"


def examine(engine: Engine, component: wit.Component) -> Facts:
    """Raises LaunchError for a component that cannot be linked, or cannot be started."""
    imports = list(_imports(engine, component))
    problems = [problem for name, kind in imports for problem in _problems(engine, name, kind)]
    if problems:
        more = f", and {len(problems) - 1} more" if problems[1:] else ""
        raise LaunchError(f"component: {problems[0]}{more}", hint=_SUPPORTED)
    exports = [unversioned(name) for name in component.type.exports(engine)]
    facts = Facts(
        runs=any(_is_run(name) for name in exports),
        handles=HANDLER in exports,
        refused=sorted({unversioned(name) for name, _ in imports if refusal(unversioned(name))}),
    )
    if not (facts.runs or facts.handles):
        raise LaunchError(
            f"component: it exports neither 'pie:NAME/run' nor '{HANDLER}'",
            hint="build it with #[inferlet::main] of Pie's Rust SDK 0.4.0",
        )
    return facts


def link(engine: Engine, component: wit.Component, calls: Calls, resources: Resources) -> wit.Linker:
    """A linker with everything the component imports."""
    linker = wit.Linker(engine)
    kinds = _ResourceKinds(resources)
    with linker.root() as root:
        for name, kind in _imports(engine, component):
            interface = _interface(name)
            with root.add_instance(name) as instance:
                for word, item in kind.exports(engine).items():
                    if isinstance(item.ty, wit.FuncType):
                        calls.offer(instance, word, item.ty, _function(interface, word))
                    elif isinstance(item.ty, wit.ResourceType):
                        instance.add_resource(word, kinds.host_type(item.ty, interface, word), calls.drop)
    return linker


def run_export(engine: Engine, component: wit.Component) -> tuple[str, str]:
    """The interface and the function with which the component starts. Raises LaunchError without one."""
    for name in component.type.exports(engine):
        if _is_run(unversioned(name)):
            return name, RUN
    raise LaunchError("component: it only answers HTTP requests", hint="serve it on a port with launch_daemon")


def handler_export(engine: Engine, component: wit.Component) -> tuple[str, str]:
    """The same for HTTP requests."""
    for name in component.type.exports(engine):
        if unversioned(name) == HANDLER:
            return name, "handle"
    raise LaunchError(f"component: it does not export {HANDLER}", hint="run it with 'pie run'")


def unversioned(name: str) -> str:
    return name.partition("@")[0]


class _ResourceKinds:
    """The host's types of a component's resource types: one for each class, also where several interfaces use it."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._known: list[tuple[wit.ResourceType, int]] = []

    def host_type(self, kind: wit.ResourceType, interface: Interface, name: str) -> wit.ResourceType:
        number = next((number for known, number in self._known if known == kind), None)
        if number is None:
            number = self._resources.kind_of(interface.classes.get(name) or type(name, (), {}))
            self._known.append((kind, number))
        return wit.ResourceType.host(number)


def _imports(engine: Engine, component: wit.Component) -> Iterator[tuple[str, wit.ComponentInstanceType]]:
    for name, item in component.type.imports(engine).items():
        if isinstance(item.ty, wit.ComponentInstanceType):
            yield name, item.ty
        elif isinstance(item.ty, wit.ModuleType):
            raise LaunchError(
                f"component: it imports the module '{name}', an interpreter that is not a part of it",
                hint=_INTERPRETER_HINT,
            )
        else:
            raise LaunchError(f"component: it imports '{name}', which this engine does not have", hint=_SUPPORTED)


def _problems(engine: Engine, name: str, kind: wit.ComponentInstanceType) -> Iterator[str]:
    if refusal(unversioned(name)):
        return
    interface = OFFERED.get(unversioned(name))
    if interface is None or not _has_version(name):
        yield f"it imports '{name}', which this engine does not have"
        return
    for word, item in kind.exports(engine).items():
        if isinstance(item.ty, wit.FuncType):
            function = interface.offered.get(word)
            if function is None:
                yield f"it imports '{word}' of '{name}', which this engine does not have"
            elif arity(function) != len(item.ty.params):
                yield f"it passes {len(item.ty.params)} values to '{word}' of '{name}', which takes {arity(function)}"


def _has_version(name: str) -> bool:
    """WASI of any 0.2, our own of any 0.1, Pie without a version or 0.4."""
    package, _, version = name.partition("@")
    if package.startswith("wasi:"):
        return version.startswith("0.2.")
    if package.startswith("pie-mlx:"):
        return version.startswith("0.1.")
    return not version or version.startswith("0.4.")


def _interface(name: str) -> Interface:
    return OFFERED.get(unversioned(name)) or Interface(unversioned(name))


def _function(interface: Interface, word: str) -> Callable[..., Any]:
    return interface.offered.get(word) or _refused(f"'{word}' of '{interface.name}'", refusal(interface.name))


def _refused(what: str, why: str) -> Callable[..., Any]:
    def refuse(*arguments: Any) -> Never:
        raise ProcessError(f"component: it called {what}: {why}", hint="leave it out")

    return refuse


def _is_run(name: str) -> bool:
    return name.startswith("pie:") and name.endswith("/run")
