"""A component, from its compiled form to its end."""

from typing import Any

from wasmtime import Config, Engine, Store
from wasmtime import component as wit

from pie_mlx.errors import LaunchError
from pie_mlx.wasm.binding.functions import Calls
from pie_mlx.wasm.binding.resources import Resources
from pie_mlx.wasm.linking import link


def new_engine() -> Engine:
    """The engine that compiles and runs components. Made after the fork: it may start threads."""
    config = Config()
    config.macos_use_mach_ports = False  # they do not survive a fork
    return Engine(config)


class RunningComponent:
    """An instance of a component. It has at most `memory_bytes` of memory, if that is given."""

    def __init__(self, engine: Engine, component: wit.Component, memory_bytes: int | None = None) -> None:
        resources = Resources()
        self._calls = Calls(resources)
        self._component = component
        self._store = Store(engine)
        if memory_bytes is not None:
            self._store.set_limits(memory_size=memory_bytes)
        self._linker = link(engine, component, self._calls, resources)
        self._instance = self._calls.guard(lambda: self._linker.instantiate(self._store, component))

    def call(self, interface: str, function: str, *arguments: Any) -> Any:
        """Call an exported function. Raises what a function of ours raised, ProcessError for a trap."""
        place = self._component.get_export_index(interface)
        index = self._component.get_export_index(function, place)
        found = None if index is None else self._instance.get_func(self._store, index)
        if found is None:
            raise LaunchError(f"component: {interface} has no function '{function}'", hint="build it again")
        return self._calls.run(self._store, found, *arguments)
