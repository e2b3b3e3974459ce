"""Pages that the pool does not use for a while because the system is short of memory."""

from pie_mlx.engine.kv.pages.pool import PagePool
from pie_mlx.engine.kv.pages.segment import SYSTEM


class Withheld:
    """Takes free and cached pages out of a pool, and puts them back.

    As with any reclaimed page, a suspended context loses the content of a cached page taken here (K8).
    """

    def __init__(self, pool: PagePool) -> None:
        self._pool = pool

    @property
    def count(self) -> int:
        """Pages that are withheld."""
        return len(self._pool.withheld)

    def withhold(self, pages: int) -> list[int]:
        """Withholds `pages` more pages, or as many as are available. Returns them."""
        if not pages:
            return []
        taken = self._pool.allocate(min(pages, self._pool.available()), owner=SYSTEM)
        self._pool.withheld += taken
        return taken

    def give_back(self, pages: int) -> None:
        """Puts back `pages` of them."""
        kept = max(0, self.count - pages)
        back, self._pool.withheld = self._pool.withheld[kept:], self._pool.withheld[:kept]
        self._pool.free(back)

    def empty_cache(self) -> list[int]:
        """Reclaims all cached pages. Returns all free pages."""
        self._pool.free(self._pool.reclaim_cached())
        return list(self._pool.free_ids)
