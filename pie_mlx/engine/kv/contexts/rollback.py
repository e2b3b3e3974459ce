"""Undoing a pass: a context goes back to what it was before, whatever was attached, reserved and appended since."""

from pie_mlx.engine.kv.contexts.context import Context
from pie_mlx.engine.kv.contexts.context_table import ContextTable
from pie_mlx.engine.kv.contexts.suspension import Suspender, copies_of
from pie_mlx.engine.kv.pages.image import Image, ImageKeeper, Tail, cut_tail
from pie_mlx.engine.kv.pages.trie import PrefixTrie, chain_of, place_at
from pie_mlx.engine.kv.pages.values import Mark, PageCopy


class Undoer:
    """Takes back passes that failed (E6)."""

    def __init__(
        self, contexts: ContextTable, trie: PrefixTrie, images: ImageKeeper, suspender: Suspender, page_size: int
    ) -> None:
        self._contexts = contexts
        self._trie = trie
        self._pool = trie.pool
        self._images = images
        self._suspender = suspender
        self._page_size = page_size

    def mark(self, number: int) -> Mark:
        """The context as it is now, to be given to `rollback` if the pass that begins fails."""
        context = self._contexts.usable(number)
        return Mark(
            context.committed,
            tuple(context.working),
            context.working_pages,
            context.highest_position,
            context.inherited_tokens,
        )

    def rollback(self, number: int, before: Mark) -> tuple[PageCopy, ...]:
        """Makes the context what it was at `before`; pages that were attached or committed since stay with the cache.

        Working tokens that such pages had replaced are copied back out of them. A context that has left the
        pool, or finds no page for them, is off-pool afterwards with those tokens to be replayed. Never raises for
        pages.
        """
        context = self._contexts[number]
        lacking = before.working_pages - context.working_pages
        if context.image is not None or lacking > self._pool.available():
            self._leave(context, before)
            return ()
        attached = context.block_table[before.committed : context.committed]
        replaced = min(len(attached), before.working_pages)  # also where nothing was written on them yet
        first_spare = context.committed + before.working_pages - replaced
        spare = context.block_table[first_spare:] + self._pool.take(max(0, lacking))
        self._pool.give(spare[replaced:])
        context.block_table[first_spare:] = []
        context.block_table[before.committed : context.committed] = spare[:replaced]
        place = place_at(context.leaf, len(attached))
        context.leaf = self._trie.move(context.leaf, place)
        context.committed, context.working = before.committed, list(before.working)
        context.highest_position, context.inherited_tokens = before.highest_position, before.inherited_tokens
        copied = min(len(before.working), replaced * self._page_size)
        return copies_of(attached, spare, copied, self._page_size)

    def _leave(self, context: Context, before: Mark) -> None:
        """Off-pool with the tokens of `before`; the content of the working ones is given up."""
        records = chain_of(context.leaf) if context.image is None else context.image.records
        tail = Tail(list(before.working), cut_tail(list(before.working), [], self._page_size))
        image = Image(
            records[: before.committed], tail, before.highest_position, before.inherited_tokens, before.working_pages
        )
        self._images.want(image)
        self._suspender.release(context)
        context.image = image
