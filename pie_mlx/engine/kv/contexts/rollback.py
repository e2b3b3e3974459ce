"""Undoes a failed pass: the context returns to its earlier state, whatever the pass matched, reserved or appended."""

from pie_mlx.engine.kv.contexts.context import Context, ContextTable
from pie_mlx.engine.kv.contexts.suspension import Suspender, copies_of
from pie_mlx.engine.kv.pages.image import Image, ImageKeeper, Tail, cut_tail
from pie_mlx.engine.kv.pages.trie import PrefixTrie, chain_of, place_at
from pie_mlx.engine.kv.pages.values import Mark, PageCopy


class Undoer:
    """Undoes failed passes (E6)."""

    def __init__(
        self, contexts: ContextTable, trie: PrefixTrie, images: ImageKeeper, suspender: Suspender, page_size: int
    ) -> None:
        self._contexts = contexts
        self._trie = trie
        self._pool = trie.pool
        self._images = images
        self._suspender = suspender
        self._page_size = page_size

    def rollback(self, number: int, before: Mark) -> tuple[PageCopy, ...]:
        """Restores the state recorded in `before`. Pages matched or committed since then stay in the cache.

        Working tokens that such pages replaced are copied out of them. If the context has left the pool, or no page is
        free for the copies, it ends up off-pool and replays those tokens. Never raises for lack of pages.
        """
        context = self._contexts[number]
        lacking = before.working_pages - context.working_pages
        if context.image is not None or lacking > self._pool.available():
            self._leave(context, before)
            return ()
        attached = context.block_table[before.committed : context.committed]
        replaced = min(len(attached), before.working_pages)  # even if nothing was written to them yet
        first_spare = context.committed + before.working_pages - replaced
        spare = context.block_table[first_spare:] + self._pool.allocate(max(0, lacking), owner=context.owner)
        self._pool.free(spare[replaced:])
        context.block_table[first_spare:] = []
        context.block_table[before.committed : context.committed] = spare[:replaced]
        place = place_at(context.leaf, len(attached))
        context.leaf = self._trie.move(context.leaf, place)
        context.committed, context.working = before.committed, list(before.working)
        self._pool.kept_states.cut(context.states, self._tokens(before))
        if not before.state_pages:
            self._pool.free(context.state_pages)
            context.state_pages = []
        context.highest_position, context.inherited_tokens = before.highest_position, before.inherited_tokens
        copied = min(len(before.working), replaced * self._page_size)
        return copies_of(attached, spare, copied, self._page_size)

    def _tokens(self, before: Mark) -> int:
        return before.committed * self._page_size + len(before.working)

    def _leave(self, context: Context, before: Mark) -> None:
        """Moves the context off-pool with the tokens of `before`, and drops the content of the working ones."""
        records = chain_of(context.leaf) if context.image is None else context.image.records
        tail = Tail(list(before.working), cut_tail(list(before.working), [], self._page_size))
        states = context.states if context.image is None else context.image.states
        image = Image(
            records[: before.committed],
            tail,
            before.highest_position,
            before.inherited_tokens,
            before.working_pages,
            before.state_pages,
            tuple(kept for kept in states if kept.tokens <= self._tokens(before)),
        )
        self._images.retain(image)
        self._suspender.release(context)
        context.image = image
