"""Images made of nothing but tokens."""

from pie_mlx.engine.kv.contexts.context import NO_POSITION
from pie_mlx.engine.kv.contexts.working import pages_for
from pie_mlx.engine.kv.pages.image import Image, Tail, cut_tail
from pie_mlx.engine.kv.pages.keys import NO_PAGE, PageHasher
from pie_mlx.engine.kv.pages.segment import PageRecord
from pie_mlx.engine.kv.pages.values import Transcript
from pie_mlx.engine.kv.pages.working_token import WorkingToken, pack


def image_of(transcript: Transcript, hasher: PageHasher, page_size: int) -> Image:
    """An image without content, in pages of this engine's size: whoever restores it computes what is not cached."""
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
