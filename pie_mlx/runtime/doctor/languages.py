"""Whether programs in JavaScript, and components, can run here, and whether the sandbox holds them."""

from dataclasses import dataclass
from typing import Literal

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.javascript.probe import probe_node
from pie_mlx.runtime.sandbox.probe import SandboxReport
from pie_mlx.runtime.worker.compiled.probe import probe_wasmtime

Judged = tuple[Literal["ok", "warning", "error"], str, str]
"""A status, what was found, and what to do about it."""


@dataclass(frozen=True, slots=True)
class LanguageFacts:
    """The version of what runs programs of a language, "" without it, and what it attempted in its walls; or why it
    cannot be used. `programs` are what it runs."""

    programs: str
    version: str
    walls: SandboxReport | None = None
    problem: str = ""
    hint: str = ""


def node_facts() -> LanguageFacts:
    """Tries Node in the sandbox."""
    from pie_mlx.runtime.javascript.node import find_node

    programs = "programs in JavaScript"
    try:
        node = find_node()
    except LaunchError as error:
        return LanguageFacts(programs, "", problem=error.message, hint=error.hint)
    return LanguageFacts(programs, node.version, probe_node())


def wasmtime_facts() -> LanguageFacts:
    """Compiles and runs a component in the sandbox."""
    from pie_mlx.runtime.worker.compiled.compiling import compiler_version

    programs = "components"
    try:
        version = compiler_version()
    except LaunchError as error:
        return LanguageFacts(programs, "", problem=error.message.removeprefix("component: "), hint=error.hint)
    return LanguageFacts(programs, version, probe_wasmtime())


def judged(found: LanguageFacts) -> Judged:
    """There are always programs in Python, so what is absent is no warning."""
    if found.walls is None:
        return "ok", f"no {found.programs}: {found.problem}", found.hint
    if not found.walls.open and not found.walls.allowed_works:
        return "warning", f"{found.version} does not work in the sandbox: {found.walls.reason}", "report this"
    if found.walls.open:
        reason = f" ({found.walls.reason})" if found.walls.reason else ""
        message = f"{found.version}: tried and not stopped: {', '.join(found.walls.open)}{reason}"
        return "warning", message, "run only programs you trust, or use another system"
    return "ok", f"{found.version}: tried and stopped: {', '.join(found.walls.stopped)}", ""
