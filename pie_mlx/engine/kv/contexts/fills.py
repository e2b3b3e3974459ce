"""Fills: the tokens to run through the model again, taken from pages and images."""

from collections.abc import Iterable, Sequence
from itertools import chain, takewhile

from pie_mlx.engine.kv.contexts.context import NO_POSITION, Context
from pie_mlx.engine.kv.contexts.working import pages_for
from pie_mlx.engine.kv.pages.image import Image, Tail, cut_tail
from pie_mlx.engine.kv.pages.keys import NO_PAGE, PageHasher
from pie_mlx.engine.kv.pages.segment import PageRecord
from pie_mlx.engine.kv.pages.trie import chain_of
from pie_mlx.engine.kv.pages.values import Fill, Lasting, Transcript
from pie_mlx.engine.kv.pages.working_token import WorkingToken, are_plain, pack, unpack

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


def image_of(transcript: Transcript, hasher: PageHasher, page_size: int, user: str) -> Image:
    """An image of the tokens alone, cut into pages of this engine's size. A restore computes whatever is neither cached
    nor stored for the user."""
    whole = transcript.committed // page_size * page_size
    pages = [transcript.tokens[start : start + page_size] for start in range(0, whole, page_size)]
    tail = transcript.tokens[whole:]
    highest = max((token.position for token in transcript.tokens[:whole]), default=NO_POSITION)
    records = _chained(pages, hasher, user)
    tail_records = cut_tail(tail, [], page_size)
    _key_tail(tail_records, tail, records, hasher, user)
    return Image(records, Tail(tail, tail_records), highest, len(tail), pages_for(len(tail), page_size))


def lasting_pages(context: Context, hasher: PageHasher, page_size: int) -> list[Lasting]:
    """The pages of a context that may outlive the engine, parents before their children. Those that are not committed
    have keys of their own."""
    image, user = context.image, context.owner.user
    if image is None:
        chain, tokens, pages = chain_of(context.leaf), context.working, context.block_table[context.committed :]
        states = context.last_states()
    else:
        chain, tokens, pages = image.records, image.tail.tokens, [record.page for record in image.tail.records]
        states = image.states
    tail = cut_tail(tokens, pages, page_size)
    _key_tail(tail, tokens, chain, hasher, user)
    length = len(chain) * page_size + len(tokens)
    end = next((kept.state for kept in states if kept.tokens == length), None)
    lasting = list(takewhile(_is_lasting, [*chain, *tail]))
    found = [Lasting(record, None if (at := record.checkpoint) is None else at.state) for record in lasting]
    if end is not None and len(found) == len(chain) + len(tail):
        found[-1:] = [Lasting(one.record, end) for one in found[-1:]]
    return found


def _is_lasting(record: PageRecord) -> bool:
    return record.stored_for is not None


def _chained(pages: list[list[WorkingToken]], hasher: PageHasher, user: str) -> list[PageRecord]:
    records: list[PageRecord] = []
    key, lasts = NO_PAGE, True
    for tokens in pages:
        key, lasts = hasher.key(key, tokens), lasts and are_plain(tokens)
        records.append(PageRecord(key, pack(tokens), len(tokens), None, user if lasts else None))
    return records


def _key_tail(
    tail: list[PageRecord], tokens: list[WorkingToken], chain: list[PageRecord], hasher: PageHasher, user: str
) -> None:
    """Keys for the records of a tail after `chain`, if it may outlive the engine for the user."""
    if not are_plain(tokens) or not all(map(_is_lasting, chain[-1:])):
        return
    key = chain[-1].key if chain else NO_PAGE
    for record in tail:
        record.key = key = hasher.tail_key(key, record.packed)
        record.stored_for = user
