"""What a program that is a component needs before it is launched."""

import asyncio

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.execution.entry import Entry
from pie_mlx.runtime.program.language import WEBASSEMBLY, language_of
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.worker.compiled.cache import CompiledComponents
from pie_mlx.runtime.worker.frames.messages import CompiledLocation


async def prepare(entry: Entry, components: CompiledComponents | None) -> None:
    """Compile the component of an entry, if it is one. Raises LaunchError, also without a process for it."""
    program = entry.program
    if program is None or language_of(program.main_file) is not WEBASSEMBLY:
        return
    if components is None or entry.executor is not None:
        raise LaunchError(
            f"program '{program.identity}': a component needs a process of its own",
            hint="set [runtime] isolation = 'process', and leave out --inline",
        )
    _, facts = await asyncio.to_thread(components.get, program.main_file)
    wanted, there = ("handle", facts.handles) if program.manifest.runtime.call == "http" else ("run", facts.runs)
    if not there:
        raise LaunchError(
            f"program '{program.identity}': it exports no '{wanted}'",
            hint="run it with 'pie run'" if facts.runs else "it answers HTTP requests: serve it with launch_daemon",
        )


def compiled_form(components: CompiledComponents, program: Program, *, recorded: bool) -> CompiledLocation | None:
    """What `prepare` has made for a component, None for other programs. Raises LaunchError."""
    if language_of(program.main_file) is not WEBASSEMBLY:
        return None
    if recorded:
        raise LaunchError("recording: only programs in Python can be recorded", hint="leave out --record")
    return components.known(program.main_file)
