"""The works of a batch as one ragged step."""

from collections.abc import Sequence

from pie_mlx.engine.kv.masks import trim_pages
from pie_mlx.engine.model.runner.batch import LogitsRequest, ScheduledTokens
from pie_mlx.engine.model.step import AdapterUse, Segment, StepInput

Reads = Sequence[Sequence[tuple[int, LogitsRequest]]]
"""For every work, its reads with their row among the logits."""

_NO_ADAPTER: AdapterUse = (0, 0, 0)


def step_input(works: Sequence[ScheduledTokens], trimmed_page_size: int | None = None) -> tuple[StepInput, Reads]:
    """The ragged arrays of a batch, and for every work its reads with their row among the logits.

    Reads of one token share a row: the head runs once per distinct (work, token). With `trimmed_page_size`, the tokens
    of a page, pages that masks hide wholly are not read at all; None where layers count the slots they see (F8).
    """
    segments: list[Segment] = []
    logit_rows: list[int] = []
    reads: list[list[tuple[int, LogitsRequest]]] = []
    start = 0
    for work in works:
        segments.append(_segment(work, start, trimmed_page_size))
        rows = {index: len(logit_rows) + rank for rank, index in enumerate(sorted({r.index for r in work.reads}))}
        logit_rows += [start + index for index in rows]
        reads.append([(rows[read.index], read) for read in work.reads])
        start += len(work.tokens)
    step = StepInput(
        tokens=[token for work in works for token in work.tokens],
        positions=[position for work in works for position in work.positions],
        slots=[slot for work in works for slot in work.slots],
        segments=tuple(segments),
        logit_rows=logit_rows,
        adapters=_adapters(works),
    )
    return step, reads


def _segment(work: ScheduledTokens, start: int, trimmed_page_size: int | None) -> Segment:
    table, length, masks = work.block_table, work.kv_length, work.masks
    if masks is not None and trimmed_page_size is not None:
        pages, masks = trim_pages(masks, length, trimmed_page_size)
        length -= (-(-length // trimmed_page_size) - len(pages)) * trimmed_page_size
        table = [table[page] for page in pages]
    return Segment(work.context, start, len(work.tokens), table, length, masks)


def _adapters(works: Sequence[ScheduledTokens]) -> list[AdapterUse] | None:
    if all(work.adapters is None for work in works):
        return None
    return [use for work in works for use in work.adapters or [_NO_ADAPTER] * len(work.tokens)]
