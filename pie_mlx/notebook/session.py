"""The engine behind a notebook, and the one program that its cells are."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from inferlet._calls.host import adopt_host
from pie_mlx.calls import Host
from pie_mlx.engine import inspection
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.events import PageUsage
from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.execution.entry import Entry
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.program.parameters import Parameters

T = TypeVar("T")


class NotebookSession:
    """An engine on a thread of its own: a cell that computes does not hold it up, and needs no event loop.

    `write` gets what cells send to their client. Raises what starting an Engine raises.
    """

    def __init__(self, model: str, write: Callable[[object], None]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pie-notebook", daemon=True)
        self._thread.start()
        self._engine = Engine(model)
        try:
            self._wait(self._engine.__aenter__())
            self._wait(self._launch(write))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Release the device and all that cells hold. Idempotent."""
        if self._loop.is_closed():
            return
        adopt_host(None)
        self._wait(self._engine.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def pages(self) -> PageUsage:
        """Current use of the pool."""
        return self._wait(self._engine.page_usage())

    def contexts(self) -> list[inspection.ContextStatus]:
        """Every context that is not released."""
        return self._wait(self._engine.consult(inspection.context_statuses))

    def market(self) -> inspection.MarketStatus:
        """The figures of the latest tick."""
        return self._wait(self._engine.consult(inspection.market_status))

    async def _launch(self, write: Callable[[object], None]) -> None:
        cells = Entry("notebook@0.0.0", Parameters(), lambda input: None, executor=_Cells)
        process = await self._engine.launch(cells, on_message=write)
        process.close_session()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class _Cells:
    """The executor of a program that runs nothing itself: until it ends, code outside of any program is this one."""

    def __init__(self, body: Callable[[], object], host: Host, report: Callable[[Outcome], None]) -> None:
        del body
        self._host = host
        self._report = report

    def start(self, begun: Callable[[], None]) -> None:
        adopt_host(self._host)
        begun()

    def cancel(self, reason: str) -> None:
        """Later calls of the cells are refused."""
        self._report(Failed(ProcessCancelledError(reason)))

    def kill(self) -> None:
        """No effect: `cancel` ends it."""
