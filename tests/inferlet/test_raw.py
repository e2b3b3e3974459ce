"""Page operations by hand."""

import pytest

from inferlet import Context, RawContext
from pie_mlx.errors import InvalidArgumentError, OutOfPagesError, PageBoundsError, PageCommitError
from tests.inferlet.toy_host import ToyHost


def counts(raw: RawContext) -> tuple[int, int, int]:
    return raw.committed_page_count(), raw.working_page_count(), raw.working_page_token_count()


async def test_pages_are_reserved_filled_and_committed(ctx: Context) -> None:  # T1
    raw = ctx.inner()
    assert counts(raw) == (0, 0, 0)
    raw.reserve_working_pages(2)
    await ctx.forward().input(range(7, 39)).defer_commit().execute()
    assert counts(raw) == (0, 2, 32)
    raw.commit_working_pages(1)
    assert counts(raw) == (1, 1, 16)
    raw.commit_working_pages(1)
    assert counts(raw) == (2, 0, 0)


async def test_commit_checks_its_bounds(ctx: Context) -> None:  # T2
    raw = ctx.inner()
    await ctx.forward().input(range(7, 27)).defer_commit().execute()
    raw.commit_working_pages(0)
    with pytest.raises(PageBoundsError):
        raw.commit_working_pages(3)
    with pytest.raises(PageCommitError):
        raw.commit_working_pages(2)
    assert counts(raw) == (0, 2, 20)
    raw.commit_working_pages(1)
    assert counts(raw) == (1, 1, 4)


def test_pages_are_released_from_the_tail(ctx: Context) -> None:  # T4
    raw = ctx.inner()
    raw.reserve_working_pages(2)
    raw.reserve_working_pages(3)
    assert raw.working_page_count() == 5
    raw.release_working_pages(5)
    assert raw.working_page_count() == 0
    with pytest.raises(PageBoundsError):
        raw.release_working_pages(1)


async def test_truncating_keeps_the_pages(ctx: Context) -> None:  # T5
    raw = ctx.inner()
    await ctx.append(range(7, 12)).flush()
    raw.truncate_working_page_tokens(3)
    assert counts(raw) == (0, 1, 2)
    with pytest.raises(PageBoundsError):
        raw.truncate_working_page_tokens(6)
    raw.truncate_working_page_tokens(0)
    assert counts(raw) == (0, 1, 2)


def test_reserving_is_checked(host: ToyHost, ctx: Context) -> None:  # P4
    raw = ctx.inner()
    with pytest.raises(InvalidArgumentError):
        raw.reserve_working_pages(-1)
    with pytest.raises(OutOfPagesError):
        raw.reserve_working_pages(host.pages + 1)
    assert raw.working_page_count() == 0


def test_page_operations_come_after_drained_tokens(ctx: Context) -> None:  # F1
    ctx.append(range(7, 27)).forward()
    raw = ctx.inner()
    assert counts(raw) == (1, 1, 4)
    raw.truncate_working_page_tokens(4)
    assert ctx.seq_len == 16
