"""The pool of the scripted engine, page by page."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from pie_mlx.events import PageUsage
from pie_mlx.tui.model.pool_books import DiskModel, PageBook, PoolBooks, PoolGroup
from pie_mlx.tui.source.script import WORDS
from pie_mlx.tui.source.scripted_engine import Program

PAGE_TOKENS = 16


def demo_pool(programs: Iterable[Program], usage: PageUsage) -> PoolBooks:
    """The pages of programs, and as many cached ones as `usage` says, of which half also lie on disk."""
    groups: list[PoolGroup] = []
    first = 0
    for contexts, count in _held(programs):
        count = min(count, usage.used - first)
        groups.append(PoolGroup("held", count, contexts, pages=((first, count),)))
        first += count
    cached = min(usage.cached, usage.total - first)
    on_disk, free = cached // 2, usage.total - first - cached
    for kind, count, stored in (("cached", on_disk, True), ("cached", cached - on_disk, False), ("free", free, False)):
        groups.append(PoolGroup(kind, count, pages=((first, count),), stored=stored))
        first += count
    disk = (DiskModel("pie-tiny", 1240, 96 << 20), DiskModel("qwen3-8b", 310, 700 << 20))
    return PoolBooks(tuple(group for group in groups if group.count), disk=disk, model="pie-tiny")


def _held(programs: Iterable[Program]) -> Iterator[tuple[tuple[int, ...], int]]:
    for program in programs:
        counted = [pages for pages in program.counted() if pages.own or pages.shared]
        if shared := max((pages.shared for pages in counted), default=0):
            yield tuple(pages.context for pages in counted), shared
        yield from (((pages.context,), pages.own) for pages in counted)


def _key(page: int) -> str:
    return blake2b(str(page).encode(), digest_size=16).hexdigest()


def demo_page(books: PoolBooks, page: int) -> PageBook:
    """A page of that pool, with a text."""
    group = next(group for group in books.groups if 0 <= page - group.pages[0][0] < group.count)
    place = page - group.pages[0][0]
    if not group.contexts:
        return PageBook(page, group.kind, stored=group.stored)
    words = [WORDS[(page * 7 + number) % len(WORDS)] for number in range(PAGE_TOKENS)]
    return PageBook(
        page,
        "held",
        group.contexts,
        user="ada",
        key=_key(page),
        after=_key(page - 1) if place else "",
        first=place * PAGE_TOKENS,
        tokens=PAGE_TOKENS,
        made_seconds=float(30 + place),
        used_seconds=0.2,
        text=" ".join(words),
    )
