"""From a program, or a function, to something that can be awaited with an input."""

import importlib.metadata
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as PackageRequirement

from pie_mlx import __version__
from pie_mlx.errors import LaunchError
from pie_mlx.runtime.manifest import Manifest
from pie_mlx.runtime.modules import ModuleSpace
from pie_mlx.runtime.parameters import Input, Parameters
from pie_mlx.runtime.program import Program
from pie_mlx.runtime.semver import Version

Main = Callable[..., Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to launch. `run` executes it from its first line; `identity` is what people see."""

    identity: str
    parameters: Parameters
    run: Callable[[Input], Awaitable[object]]


def program_entry(program: Program) -> Entry:
    """Raises LaunchError when this engine cannot offer what the manifest asks for."""
    check_offers(program.manifest)
    return Entry(program.identity, program.manifest.parameters, _ProgramRun(program))


def function_entry(function: Main) -> Entry:
    """Raises LaunchError for anything but `async def main(input)`."""
    name = getattr(function, "__name__", type(function).__name__)
    _check_main(function, name, "input", name)
    return Entry(f"{name.replace('_', '-')}@0.0.0", Parameters(), function)


def check_offers(manifest: Manifest) -> None:
    """Raises LaunchError for an SDK, a package or a program the manifest requires and this engine does not have."""
    wanted = manifest.runtime.inferlet
    if wanted is not None and not wanted.matches(Version.parse(__version__)):
        raise LaunchError(
            f"program '{manifest.identity}': needs inferlet {wanted.text}, this is {__version__}",
            hint="change [runtime] inferlet or use another version of pie-mlx",
        )
    for text in manifest.runtime.packages:
        if problem := _package_problem(text):
            raise LaunchError(
                f"program '{manifest.identity}': {problem}", hint="install it beside pie-mlx; engines install nothing"
            )
    for name, requirement in manifest.dependencies.items():
        raise LaunchError(
            f"program '{manifest.identity}': needs program '{name}' ({requirement.text}), which is not installed",
            hint="put its modules into the program's directory",
        )


@dataclass(frozen=True, slots=True)
class _ProgramRun:
    """Each run has modules of its own, so nothing of one run is left for the next."""

    program: Program

    async def __call__(self, input: Input) -> object:
        runtime = self.program.manifest.runtime
        space = ModuleSpace(self.program)
        try:
            main = getattr(space.load_main(), runtime.entry, None)
            _check_main(main, runtime.entry, runtime.call, str(self.program.main_file))
            entry = cast("Main", main)
            return await (entry(input) if runtime.call == "input" else entry(**input))
        finally:
            space.close()


def _check_main(function: object, name: str, call: str, where: str) -> None:
    if not callable(function) or not _is_async(function):
        raise LaunchError(
            f"{where}: {name} is not 'async def'",
            hint=f"write 'async def {name}(input)'; the blocking API is not part of this version",
        )
    if call == "input" and not _takes_one(function):
        raise LaunchError(f"{where}: {name} does not take one argument", hint=f"write 'async def {name}(input)'")


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind({})
    except TypeError:
        return False
    return True


def _package_problem(text: str) -> str:
    try:
        requirement = PackageRequirement(text)
    except InvalidRequirement as error:
        return f"[runtime] packages: {text!r}: {error}"
    if requirement.marker is not None and not requirement.marker.evaluate():
        return ""
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return f"needs the package {text!r}, which is not installed"
    fits = requirement.specifier.contains(version, prereleases=True)
    return "" if fits else f"needs the package {text!r}, installed is {version}"
