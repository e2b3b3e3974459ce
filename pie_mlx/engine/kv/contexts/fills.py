"""Fills: the tokens to run through the model again, taken from pages and images."""

from collections.abc import Iterable, Sequence
from itertools import chain

from pie_mlx.engine.kv.contexts.context import NO_POSITION, Context
from pie_mlx.engine.kv.contexts.working import pages_for
from pie_mlx.engine.kv.pages.image import Image, Tail, cut_tail
from pie_mlx.engine.kv.pages.record import NO_PAGE, PageHasher, PageRecord, WorkingToken, pack, unpack
from pie_mlx.engine.kv.pages.trie import chain_of
from pie_mlx.engine.kv.pages.values import Fill, Transcript

Run = list[WorkingToken]


def fills_of(pieces: Iterable[tuple[int, Sequence[WorkingToken]]]) -> list[Fill]:
    """Builds fills from `pieces` of (first slot, tokens) in slot order. Neighbours with equal adapter and seed merge
    (R5)."""
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
    """Adapters (id, version) that the tokens of `contexts` and `images` use. Adapter 0, which means none, is left
    out."""
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


def image_of(transcript: Transcript, hasher: PageHasher, page_size: int) -> Image:
    """An image of the tokens alone, cut into pages of this engine's size. A restore computes whatever is not cached."""
    whole = transcript.committed // page_size * page_size
    pages = [transcript.tokens[start : start + page_size] for start in range(0, whole, page_size)]
    tail = transcript.tokens[whole:]
    highest = max((token.position for token in transcript.tokens[:whole]), default=NO_POSITION)
    return Image(_chained(pages, hasher), _tail(tail, page_size), highest, len(tail), pages_for(len(tail), page_size))


def _chained(pages: list[list[WorkingToken]], hasher: PageHasher) -> list[PageRecord]:
    records: list[PageRecord] = []
    key = NO_PAGE
    for tokens in pages:
        key = hasher.key(key, tokens)
        records.append(PageRecord(key, pack(tokens), len(tokens), None))
    return records


def _tail(tokens: list[WorkingToken], page_size: int) -> Tail:
    return Tail(tokens, cut_tail(tokens, [], page_size))
