"""The contexts of a page store by number."""

from collections.abc import Iterable, Iterator

from pie_mlx.engine.kv.contexts.context import Context
from pie_mlx.engine.kv.pages.integrity_error import IntegrityError
from pie_mlx.engine.kv.pages.segment import Segment
from pie_mlx.errors import ContextReleasedError


class ContextTable:
    """Contexts that were made and not removed. New ones are empty: they stand at the `root` of the trie."""

    def __init__(self, root: Segment) -> None:
        self._root = root
        self._contexts: dict[int, Context] = {}
        self._next_number = 1

    def __contains__(self, number: int) -> bool:
        return number in self._contexts

    def __iter__(self) -> Iterator[Context]:
        return iter(self._contexts.values())

    def new(self) -> Context:
        """An empty context; numbers only grow."""
        context = self._contexts[self._next_number] = Context(self._next_number, self._root)
        self._next_number += 1
        return context

    def remove(self, number: int) -> Context | None:
        """The context, which is no longer here; None for an unknown number."""
        return self._contexts.pop(number, None)

    def __getitem__(self, number: int) -> Context:
        """Raises ContextReleasedError for a number that is not here."""
        try:
            return self._contexts[number]
        except KeyError:
            raise ContextReleasedError(
                f"context {number}: it was released", hint="use a context only while you hold it"
            ) from None

    def off_pool(self, numbers: Iterable[int]) -> list[int]:
        """Those of `numbers` that do not hold their pages; those that were released are ignored."""
        found = map(self._contexts.get, numbers)
        return [context.number for context in found if context is not None and not context.resident]

    def resident(self, number: int) -> Context:
        """One that holds its pages, be it that they are still being filled. Raises IntegrityError for another."""
        context = self[number]
        if not context.resident:
            raise _off_pool(number)
        return context

    def usable(self, number: int) -> Context:
        """One whose content is in its pages. Raises IntegrityError for another."""
        context = self._contexts.get(number)
        if context is None or context.image is not None:
            raise _off_pool(self[number].number)
        return context


def _off_pool(number: int) -> IntegrityError:
    return IntegrityError(f"context {number} is off-pool: restore it first")
