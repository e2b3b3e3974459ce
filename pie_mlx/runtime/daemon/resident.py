"""Programs of the engine's own that stay loaded."""

from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from pie_mlx.calls import BeginHttpAnswer, Call, Host, ReadHttpRequest, WriteHttpBody
from pie_mlx.engine.ports import HttpPort
from pie_mlx.runtime.daemon.shared_loop import Body, Report, SharedLoop, SharedRun
from pie_mlx.runtime.execution.entry import Entry, check_offers
from pie_mlx.runtime.execution.http_answer import answer_request
from pie_mlx.runtime.program.manifest import HANDLER
from pie_mlx.runtime.program.modules import ModuleSpace
from pie_mlx.runtime.program.program import Program

Reply = TypeVar("Reply")


class Resident:
    """A program whose modules are loaded once, here, and shared by all its processes, as is `loop`.

    Only for code that may be trusted with this interpreter. Raises LaunchError, and what the program's top level
    raises.
    """

    def __init__(self, program: Program, loop: SharedLoop) -> None:
        check_offers(program.manifest, program.dependencies)
        handle = getattr(ModuleSpace(program).load_main(), HANDLER)
        self._loop = loop
        self._entry = Entry(program.identity, program.manifest.parameters, partial(answer_request, handle))

    def entry(self, http: HttpPort) -> Entry:
        """A process that answers `http`."""
        return replace(self._entry, executor=partial(self._executor, http))

    def _executor(self, http: HttpPort, body: Body, host: Host, report: Report) -> SharedRun:
        return self._loop.executor(body, NearHost(host, http), report)


class NearHost:
    """A host whose process answers its request itself: nothing of that has to go through the engine."""

    def __init__(self, host: Host, http: HttpPort) -> None:
        self._host = host
        self._http = http

    def call(self, message: Call[Reply]) -> Reply:
        """See `Host`."""
        return self._host.call(message)

    async def submit(self, message: Call[Reply]) -> Reply:
        """See `Host`."""
        match cast("Call[Any]", message):
            case ReadHttpRequest():
                return cast("Reply", self._http.request)
            case BeginHttpAnswer(status=status, headers=headers):
                return cast("Reply", self._http.begin(status, headers))
            case WriteHttpBody(data=data, last=last):
                return cast("Reply", await self._http.write(data, last=last))
            case _:
                return await self._host.submit(message)

    def post(self, message: Call[Any]) -> None:
        """See `Host`."""
        self._host.post(message)
