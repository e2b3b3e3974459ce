"""Pages that the pool does without for a while, because the system is short of memory."""

from pie_mlx.engine.kv.pages.pool import PagePool


class Withheld:
    """Takes pages out of a pool, free and cached ones only, and puts them back.

    What a cached page holds for a suspended context is lost as when another context takes it (K8).
    """

    def __init__(self, pool: PagePool) -> None:
        self._pool = pool

    @property
    def count(self) -> int:
        """Pages that are withheld."""
        return len(self._pool.withheld)

    def take(self, pages: int) -> list[int]:
        """Withhold `pages` more, or as many as are available; answers them."""
        if not pages:
            return []
        taken = self._pool.take(min(pages, self._pool.available()))
        self._pool.withheld += taken
        return taken

    def give_back(self, pages: int) -> None:
        """Put back `pages` of them."""
        kept = max(0, self.count - pages)
        back, self._pool.withheld = self._pool.withheld[kept:], self._pool.withheld[:kept]
        self._pool.give(back)

    def empty_cache(self) -> list[int]:
        """Forget what is cached; answers all pages that are free then."""
        self._pool.give(self._pool.take_cached())
        return list(self._pool.free)
