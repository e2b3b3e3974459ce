"""The parts that something makes for itself, seen from outside through what they show to the rest of the code."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch


@contextmanager
def instances(*classes: type) -> Iterator[list[Any]]:
    """Objects of these classes that are made meanwhile, in order."""
    made: list[Any] = []
    with ExitStack() as stack:
        for kind in classes:
            stack.enter_context(patch.object(kind, "__init__", _kept(kind.__init__, made)))  # type: ignore[misc]
        yield made


def _kept(init: Any, made: list[Any]) -> Any:
    def keep(self: object, *arguments: object, **options: object) -> None:
        init(self, *arguments, **options)
        made.append(self)

    return keep
