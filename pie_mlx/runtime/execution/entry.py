"""Entries: programs and functions in the form that can be run with an input."""

import inspect
from collections.abc import Awaitable, Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any, Never, cast

from inferlet.sync._input import program_input
from pie_mlx import __version__
from pie_mlx.calls import Host
from pie_mlx.errors import LaunchError
from pie_mlx.runtime.execution.executor import Executor
from pie_mlx.runtime.execution.http_answer import answer_request
from pie_mlx.runtime.execution.outcome import Outcome
from pie_mlx.runtime.javascript.program import NodeProgram, node_program
from pie_mlx.runtime.program.entry_kind import EntryKind
from pie_mlx.runtime.program.findings import nearest
from pie_mlx.runtime.program.language import language_of
from pie_mlx.runtime.program.manifest import HANDLER, Manifest
from pie_mlx.runtime.program.modules import ModuleSpace
from pie_mlx.runtime.program.parameters import Input, Parameters
from pie_mlx.runtime.program.program import Program, program_entry_kind
from pie_mlx.runtime.program.semver import Version

_PACKAGE_LIMIT = 512
"""Characters."""

Main = Callable[..., Awaitable[object]] | Callable[..., object]
"""`async def main(input)`, or `def main(input)` for a program that blocks."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something to launch. `run` executes it from its first line; `identity` is the name shown to people.

    An awaitable result of `run` is awaited. A blocking program runs outside an event loop and ends when `run` returns.
    `program` is its source, None for a function, which cannot leave its interpreter. `executor`, if given, makes the
    executor; otherwise the entry runs on a thread of its own. A `node` program needs a process.
    """

    identity: str
    parameters: Parameters
    run: Callable[[Input], object]
    program: Program | None = None
    executor: Callable[[Callable[[], object], Host, Callable[[Outcome], None]], Executor] | None = None
    node: NodeProgram | None = None


def program_entry(program: Program) -> Entry:
    """Raises LaunchError for a program that only answers requests, or requires what this engine lacks."""
    if program.manifest.answers_requests:
        raise _unserved(program)
    check_offers(program.manifest, program.dependencies)
    node = node_program(program) if language_of(program.main_file).worker == "node" else None
    return Entry(program.identity, program.manifest.parameters, ProgramBody(program), program, node=node)


def function_entry(function: Main) -> Entry:
    """Raises LaunchError for anything but `async def main(input)` and `def main(input)`."""
    name = getattr(function, "__name__", type(function).__name__)
    _check_main(function, name, "input", name, "async" if _is_async(function) else "blocking")
    return Entry(f"{name.replace('_', '-')}@0.0.0", Parameters(), function)


def check_offers(manifest: Manifest, available: Container[str] = ()) -> None:
    """Raises LaunchError for an SDK, package or program that the manifest requires and this engine lacks.

    `available` are its resolved dependencies.
    """
    for missing in missing_offers(manifest):
        raise missing
    for name, requirement in manifest.dependencies.items():
        if name not in available:
            raise LaunchError(
                f"program '{manifest.identity}': needs program '{name}' ({requirement.text}), which is not installed",
                hint=f"install it with 'pie install', then run '{manifest.name}' with 'pie run'",
            )


def missing_offers(manifest: Manifest) -> Iterator[LaunchError]:
    """Requirements of the manifest on the SDK and on packages that are not met."""
    wanted = manifest.runtime.inferlet
    if wanted is not None and not wanted.matches(Version.parse(__version__)):
        yield LaunchError(
            f"program '{manifest.identity}': needs inferlet {wanted.text}, this is {__version__}",
            hint="change [runtime] inferlet or use another version of pie-mlx",
        )
    for text in manifest.runtime.packages:
        if problem := _package_problem(text):
            yield LaunchError(
                f"program '{manifest.identity}': {problem}", hint="install it beside pie-mlx; engines install nothing"
            )


@dataclass(frozen=True, slots=True)
class ProgramBody:
    """Runs a program with an input. Each run loads its own modules, so runs share no state."""

    program: Program

    def __call__(self, input: Input) -> object:
        """Returns a coroutine for an asynchronous program; runs a blocking one to its end."""
        language = language_of(self.program.main_file)
        if language.worker != "python":
            raise LaunchError(
                f"program '{self.program.identity}': {language.name} needs a process of its own",
                hint="set [runtime] isolation = 'process', and leave out --inline",
            )
        entry_kind, input = program_entry_kind(self.program), _NamedKeys(input)
        return self._asynchronous(input) if entry_kind == "async" else self._blocking(entry_kind, input)

    async def _asynchronous(self, input: Input) -> object:
        runtime = self.program.manifest.runtime
        space = ModuleSpace(self.program, "async")
        try:
            entry = self._main(space)
            if runtime.call == "http":
                return await answer_request(entry, input)
            return await (entry(input) if runtime.call == "input" else entry(**input))
        finally:
            space.close()

    def _blocking(self, entry_kind: EntryKind, input: Input) -> object:
        space = ModuleSpace(self.program, entry_kind)
        try:
            with program_input(input):
                if entry_kind == "script":
                    space.load_main()
                    return None
                main = self._main(space)
                return main(**input) if self.program.manifest.runtime.call == "kwargs" else main(input)
        finally:
            space.close()

    def _main(self, space: ModuleSpace) -> Callable[..., Any]:
        """Execute the top level and return the entry it defines. Raises LaunchError if that cannot be called."""
        runtime = self.program.manifest.runtime
        module = space.load_main()
        main = getattr(module, runtime.entry, None)
        if main is None and hasattr(module, HANDLER):
            raise _unserved(self.program)
        _check_main(main, runtime.entry, runtime.call, str(self.program.main_file), space.entry_kind)
        return cast("Callable[..., Any]", main)


class _NamedKeys(dict[str, Any]):
    """The input of a program: what it lacks is answered with what it has."""

    def __missing__(self, key: object) -> Never:
        known = ", ".join(map(str, self)) or "nothing"
        raise KeyError(f"{key}: input has: {known}{nearest(str(key), self)}")


def _unserved(program: Program) -> LaunchError:
    return LaunchError(
        f"program '{program.identity}': it answers HTTP requests ('{HANDLER}') and cannot be run with an input",
        hint=f"serve it on a port: await client.launch_daemon('{program.identity}', PORT), with a pie_mlx.client",
    )


def _check_main(function: object, name: str, call: str, where: str, entry_kind: EntryKind) -> None:
    define = "async def" if entry_kind == "async" else "def"
    if not callable(function) or (entry_kind == "async" and not _is_async(function)):
        raise LaunchError(
            f"{where}: {name} is not 'async def'",
            hint=f"write 'async def {name}(input)', or 'def {name}(input)' in the main file itself",
        )
    if call == "input" and not _takes_one(function):
        raise LaunchError(f"{where}: {name} does not take one argument", hint=f"write '{define} {name}(input)'")


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _takes_one(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind({})
    except TypeError:
        return False
    return True


def _package_problem(text: str) -> str:
    if len(text) > _PACKAGE_LIMIT:
        return f"[runtime] packages: more than {_PACKAGE_LIMIT} characters for one"
    # A fifth of what every worker imports, and few programs name packages.
    from importlib import metadata

    from packaging.requirements import Requirement

    try:
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate():
            return ""
    except (ValueError, RecursionError) as error:  # also raised for markers with undefined names
        return f"[runtime] packages: {text!r}: {error}"
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f"needs the package {text!r}, which is not installed"
    fits = requirement.specifier.contains(version, prereleases=True)
    return "" if fits else f"needs the package {text!r}, installed is {version}"
