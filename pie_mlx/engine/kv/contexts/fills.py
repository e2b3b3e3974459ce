"""Fills: what to run through the model again, derived from the tokens that pages and images keep."""

from collections.abc import Iterable, Sequence
from itertools import chain

from pie_mlx.engine.kv.contexts.context import Context
from pie_mlx.engine.kv.pages.image import Image
from pie_mlx.engine.kv.pages.trie import chain_of
from pie_mlx.engine.kv.pages.values import Fill
from pie_mlx.engine.kv.pages.working_token import WorkingToken, unpack

Run = list[WorkingToken]


def fills_of(pieces: Iterable[tuple[int, Sequence[WorkingToken]]]) -> list[Fill]:
    """Fills for `pieces` of (first slot, tokens) in slot order; neighbours of equal adapter and seed merge (R5)."""
    fills: list[Fill] = []
    run: Run = []
    start = next_slot = 0
    for first, tokens in pieces:
        for slot, token in enumerate(tokens, first):
            if run and (slot != next_slot or token[3:] != run[-1][3:]):
                fills.append(_fill(start, run))
                run = []
            if not run:
                start = slot
            run.append(token)
            next_slot = slot + 1
    return [*fills, _fill(start, run)] if run else fills


def adapters_in_use(contexts: Iterable[Context], images: Iterable[Image]) -> set[tuple[int, int]]:
    """Adapters (id, version) that the tokens of `contexts` and `images` refer to; 0 is no adapter."""
    images = list(images)
    working: list[WorkingToken] = []
    pages: set[bytes] = set()
    for context in contexts:
        working += context.working
        pages.update(record.packed for record in chain_of(context.leaf))
        if context.image is not None:
            images.append(context.image)
    for image in images:
        pages.update(record.packed for record in image.all_records())
    tokens = chain(working, *map(unpack, pages))
    return {(token.adapter, token.adapter_version) for token in tokens if token.adapter}


def _fill(start: int, run: Run) -> Fill:
    ids, positions, masks, *_ = zip(*run, strict=True)
    return Fill(start, ids, positions, masks, run[0].adapter, run[0].adapter_version, run[0].zo_seed)
