"""Which kept states a context can go on from, and the pages that its own state costs."""

from bisect import insort
from collections.abc import Iterable
from typing import Any

from pie_mlx.engine.kv.contexts.context import Context, ContextTable
from pie_mlx.engine.kv.pages.image import Image
from pie_mlx.engine.kv.pages.pool import PagePool
from pie_mlx.engine.kv.pages.record import KeptState, PageRecord
from pie_mlx.engine.kv.pages.trie import chain_of


class ContextStates:
    """Kept states at places in contexts. All of them are shortcuts: a state can be computed again from its tokens.

    A shared state at the end of committed pages belongs to the last of these, for all contexts that attach it. Any
    other one belongs to its context, and to images and forks of it. `pages_each` is the price of the state that a
    context goes on from, in pages that it holds while it is in the pool; 0 for a model without recurrent layers, where
    nothing else here is used.
    """

    def __init__(self, contexts: ContextTable, pool: PagePool, page_size: int, pages_each: int) -> None:
        self.pages_each = pages_each
        self._contexts, self._pool, self._page_size = contexts, pool, page_size
        self._kept_states = pool.kept_states

    # The price.

    def lacking_pages(self, number: int) -> int:
        """Pages to take before the context computes anything."""
        return 0 if self._contexts[number].state_pages else self.pages_each

    def take_pages(self, number: int) -> None:
        """Take them. Raises OutOfPagesError."""
        context = self._contexts.usable(number)
        if not context.state_pages:
            context.state_pages = self._pool.allocate(self.pages_each, owner=context.owner)

    # The places.

    def keep(self, number: int, state: Any, tokens: int, size_bytes: int, *, shared: bool) -> None:
        """Keep the state after the first `tokens` tokens of a context, all of which it holds; `shared` with others
        where committed pages end there."""
        context = self._contexts.usable(number)
        known = next((kept for kept in context.last_states() if kept.tokens == tokens), None)
        if known is not None:
            self._kept_states.use(known)
            return
        before = self.newest(number, tokens)
        saves = max(1, tokens - (0 if before is None else before.tokens))
        kept = self._kept_states.keep(state, tokens, size_bytes, saves)
        if kept is None:
            return
        if shared and context.committed and tokens == context.committed * self._page_size:
            self._kept_states.attach(context.leaf.pages[-1], kept)
        else:
            self._kept_states.retain(kept)
            insort(context.states, kept, key=tokens_of)
            self._prune(context)

    def newest(self, number: int, tokens: int) -> KeptState | None:
        """The last one after at most `tokens` tokens of a context that is in the pool."""
        context = self._contexts.usable(number)
        return deepest((*_checkpoints(chain_of(context.leaf)), *context.states), tokens)

    def _prune(self, context: Context) -> None:
        """Let go of what was dropped, and of those that no truncation comes back to: all but the last of the committed
        part, as committed pages stay."""
        committed = context.committed * self._page_size
        there = [kept for kept in context.states if kept.state is not None]
        early = [kept for kept in there if kept.tokens <= committed]
        useful = there[max(0, len(early) - 1) :]
        for kept in context.states:
            if kept not in useful:
                self._kept_states.release(kept)
        context.states = useful


def deepest(states: Iterable[KeptState], tokens: int) -> KeptState | None:
    """The one after most tokens, but no more than `tokens`; of equal ones one that needs not be read."""
    usable = [kept for kept in states if kept.tokens <= tokens and (kept.state is not None or kept.spill is not None)]
    return max(usable, key=lambda kept: (kept.tokens, kept.state is not None), default=None)


def image_states(image: Image) -> Iterable[KeptState]:
    """All that an image can go on from."""
    return (*_checkpoints(image.records), *image.states)


def _checkpoints(records: Iterable[PageRecord]) -> list[KeptState]:
    return [record.checkpoint for record in records if record.checkpoint is not None]


def tokens_of(kept: KeptState) -> int:
    """The order of kept states in a context."""
    return kept.tokens
