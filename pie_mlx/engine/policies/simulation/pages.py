"""A pool that counts pages and remembers which content was lost; it holds no tokens."""

import math
from dataclasses import dataclass, field

from pie_mlx.errors import OutOfPagesError


@dataclass(slots=True)
class Run:
    """Full pages below a fork point. `members` have it in their chain, `residents` of these are in the pool."""

    run: int
    pages: int
    members: int = 0
    residents: int = 0
    lost_pages: int = 0


@dataclass(slots=True)
class Chain:
    """The pages of one context: shared runs, then own ones, of which the first hold `own_tokens` tokens.

    `state_pages` more are the state of recurrent layers, needed from the first token on and never shared.
    """

    context: int
    runs: list[Run] = field(default_factory=list[Run])
    own_pages: int = 0
    own_tokens: int = 0
    lost_pages: int = 0
    resident: bool = True
    state_pages: int = 0


class SimulatedPool:
    """Pages of chains; content without a resident holder stays cached until its pages are taken, oldest first (K8).

    `lost_pages` counts all whose content went that way.
    """

    def __init__(self, capacity_pages: int, page_size: int) -> None:
        self.capacity_pages = capacity_pages
        self.page_size = page_size
        self.used_pages = self.lost_pages = 0
        self._cached: dict[tuple[str, int], tuple[Run | Chain, int]] = {}
        self._next_run = 1

    @property
    def available_pages(self) -> int:
        return self.capacity_pages - self.used_pages

    def held_pages(self, chain: Chain) -> int:
        """Pages of the whole chain, wherever they are."""
        return chain.own_pages + sum(run.pages for run in chain.runs)

    def lacking_pages(self, chain: Chain, tokens: int) -> int:
        """Pages that `tokens` more tokens need beyond the chain's own."""
        return max(0, chain.state_pages + self._pages_for(chain.own_tokens + tokens) - chain.own_pages)

    def return_pages(self, chain: Chain) -> int:
        """Pages an off-pool chain needs to be resident again."""
        return chain.own_pages + sum(run.pages for run in chain.runs if not run.residents)

    def effective_pages(self, chain: Chain) -> float:
        return chain.own_pages + sum(run.pages / run.residents for run in chain.runs) if chain.resident else 0.0

    def private_pages(self, chain: Chain) -> int:
        return chain.own_pages + sum(run.pages for run in chain.runs if run.residents == 1)

    def grow(self, chain: Chain, pages: int) -> None:
        """Adds `pages` own pages to a resident chain."""
        self._take(pages)
        chain.own_pages += pages

    def suspend(self, chain: Chain) -> None:
        filled = min(chain.own_pages, chain.state_pages + self._pages_for(chain.own_tokens))
        self.used_pages -= chain.own_pages
        self._cache(("own", chain.context), chain, filled)
        chain.resident = False
        for run in chain.runs:
            self._leave(run)

    def restore(self, chain: Chain) -> int:
        """Brings a chain back; how many of its pages have lost their content."""
        lost = self._uncache(("own", chain.context), chain)
        self._take(chain.own_pages)
        chain.resident = True
        for run in chain.runs:
            if run.residents == 0:
                lost += self._uncache(("run", run.run), run)
                self._take(run.pages)
            run.residents += 1
        return lost

    def fork(self, parent: Chain, context: int) -> Chain:
        """A child with the same tokens; only the partly filled page is its own, and not there yet."""
        full = parent.own_tokens // self.page_size
        if full and parent.resident:
            run = Run(self._next_run, full, members=1, residents=1)
            self._next_run += 1
            parent.runs.append(run)
            parent.own_pages -= full
            parent.own_tokens -= full * self.page_size
        child = Chain(context, list(parent.runs), own_tokens=parent.own_tokens, resident=parent.resident)
        child.state_pages = parent.state_pages
        if not parent.resident:
            child.own_pages = child.lost_pages = child.state_pages + self._pages_for(child.own_tokens)
        for run in child.runs:
            run.members += 1
            run.residents += child.resident
        return child

    def drop(self, chain: Chain) -> None:
        """Releases a chain for good."""
        self._cached.pop(("own", chain.context), None)
        if chain.resident:
            self.used_pages -= chain.own_pages
        for run in chain.runs:
            run.members -= 1
            if chain.resident:
                self._leave(run)
            if not run.members:
                self._cached.pop(("run", run.run), None)

    def _pages_for(self, tokens: int) -> int:
        return math.ceil(tokens / self.page_size)

    def _leave(self, run: Run) -> None:
        run.residents -= 1
        if run.residents == 0:
            self.used_pages -= run.pages
            self._cache(("run", run.run), run, run.pages)

    def _cache(self, key: tuple[str, int], owner: Run | Chain, pages: int) -> None:
        self._cached[key] = (owner, max(0, pages - owner.lost_pages))

    def _uncache(self, key: tuple[str, int], owner: Run | Chain) -> int:
        self._cached.pop(key, None)
        lost, owner.lost_pages = owner.lost_pages, 0
        return lost

    def _take(self, pages: int) -> None:
        if pages > self.available_pages:
            raise OutOfPagesError(
                f"{pages} pages are not available: {self.available_pages} of {self.capacity_pages} are",
                hint="the plan promised more pages than there are",
                needed=pages,
                capacity=self.capacity_pages,
            )
        self.used_pages += pages
        self._reclaim(sum(cached for _, cached in self._cached.values()) - self.available_pages)

    def _reclaim(self, pages: int) -> None:
        while pages > 0:
            key, (owner, cached) = next(iter(self._cached.items()))
            taken = min(pages, cached)
            owner.lost_pages += taken
            self.lost_pages += taken
            pages -= taken
            if taken == cached:
                del self._cached[key]
            else:
                self._cached[key] = (owner, cached - taken)
