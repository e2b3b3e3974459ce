"""A call that cannot go on until its context is in the pool and has pages."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pie_mlx.engine.live_context import LiveContext
from pie_mlx.errors import PieError


@dataclass(slots=True, eq=False)
class PageRequest:
    """`pages` more for `context`; `action` takes them at the moment they are granted and makes the result."""

    context: LiveContext
    pages: int
    action: Callable[[], Any]
    arrival: int
    done: "asyncio.Future[Any]"

    def grant(self) -> None:
        """Run the action. A PieError it raises goes to the caller."""
        if self.done.done():
            return
        try:
            self.done.set_result(self.action())
        except PieError as error:
            self.done.set_exception(error)

    def fail(self, error: PieError) -> None:
        if not self.done.done():
            self.done.set_exception(error)
