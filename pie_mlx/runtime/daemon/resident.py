"""Programs of the engine's own that stay loaded."""

from functools import partial

from pie_mlx.runtime.daemon.answering import answer_request
from pie_mlx.runtime.daemon.shared_loop import SharedLoop
from pie_mlx.runtime.entry import Entry, program_entry
from pie_mlx.runtime.modules import ModuleSpace
from pie_mlx.runtime.program import HANDLER, Program


def resident_entry(program: Program, loop: SharedLoop) -> Entry:
    """The handler of a program whose modules are loaded once, here, and shared by all its processes, as is `loop`.

    Only for code that may be trusted with this interpreter. Raises LaunchError, and what the program's top level
    raises.
    """
    checked = program_entry(program)
    handle = getattr(ModuleSpace(program).load_main(), HANDLER)
    return Entry(checked.identity, checked.parameters, partial(answer_request, handle), executor=loop.executor)
