"""Page operations of a context, all synchronous."""

from inferlet._calls.checks import integer
from inferlet._context.handle import ContextHandle
from pie_mlx.calls import CommitPages, ReleasePages, ReservePages, TruncateTokens


class RawContext:
    """The pages of a context, from `Context.inner()`. It keeps the context alive."""

    def __init__(self, handle: ContextHandle) -> None:
        self._handle = handle

    def reserve_working_pages(self, n: int) -> None:
        """Add `n` working pages after the existing ones; may wait for pages. Raises InvalidArgumentError for
        n < 0 and OutOfPagesError for more than the pool can ever hold."""
        self._handle.ask(ReservePages(self._handle.id, integer(n, "n")))

    def commit_working_pages(self, k: int) -> None:
        """Turn the first `k` working pages into committed ones. Raises PageBoundsError for more than there are
        and PageCommitError for pages that are not full or positions that do not increase."""
        self._handle.ask(CommitPages(self._handle.id, integer(k, "k")))

    def release_working_pages(self, n: int) -> None:
        """Free the last `n` working pages with their tokens. Raises PageBoundsError for more than there are."""
        self._handle.ask(ReleasePages(self._handle.id, integer(n, "n")))

    def truncate_working_page_tokens(self, n: int) -> None:
        """Forget the last `n` working tokens. Raises PageBoundsError for more than there are."""
        self._handle.ask(TruncateTokens(self._handle.id, integer(n, "n")))

    def committed_page_count(self) -> int:
        """Full, immutable, shareable pages."""
        return self._handle.counters().committed

    def working_page_count(self) -> int:
        """Private pages, filled or not."""
        return self._handle.counters().working

    def working_page_token_count(self) -> int:
        """All tokens in working pages."""
        return self._handle.counters().working_tokens
