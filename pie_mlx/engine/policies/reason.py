"""Why a context waits or was suspended, for machines and for people."""

from enum import StrEnum

import msgspec

from pie_mlx.plural import plural


class ReasonKind(StrEnum):
    """The rule that made the decision."""

    OUTBID = "outbid"
    DEFAULTED = "defaulted"
    YIELDS_TO_DUE = "yields_to_due"
    NEWER = "newer"
    STAYS = "stays"
    HEADROOM = "headroom"
    NO_PAGES = "no_pages"
    PAGES_COMING = "pages_coming"
    MEMORY = "memory"
    BATCH_CONTEXTS = "batch_contexts"
    BATCH_TOKENS = "batch_tokens"
    USER_SHARE = "user_share"


class Reason(msgspec.Struct, frozen=True):
    """`kind` with the numbers it was decided on. Listings and the monitor print its `text`.

    `bid` is the context's own declared bid, `against_bid` the one it lost to, `price` the clearing price that the
    demands of this tick would give, `pages` what the waiting context needs, or the one that another is suspended for,
    `available_pages` what there was, `waited_ticks` how long the waiting side had waited, `move_cost` what
    must be offered beyond `against_bid` for a page and tick. `hint` is what the program of the
    context that stays, or goes, had said of its pages.
    """

    kind: ReasonKind
    bid: float = 0.0
    against_bid: float = 0.0
    price: float = 0.0
    pages: int = 0
    available_pages: int = 0
    waited_ticks: int = 0
    suspended: bool = False
    move_cost: float = 0.0
    hint: str = ""

    def text(self) -> str:
        """One line for people, e.g. `suspended: bid 0.80 < clearing price 1.20; another needs 14 pages`."""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{'suspended' if self.suspended else 'waiting'}: {self._cause()}{hint}"

    def _cause(self) -> str:
        match self.kind:
            case ReasonKind.OUTBID | ReasonKind.NO_PAGES:
                return self._lost_auction()
            case ReasonKind.DEFAULTED:
                return "its account could not pay its rent"
            case ReasonKind.YIELDS_TO_DUE:
                return f"yields to a context that waited {plural(self.waited_ticks, 'tick')}"
            case ReasonKind.NEWER:
                return f"came after the requester, which needs {self._pages()}"
            case ReasonKind.STAYS:
                offer = (self.bid - self.against_bid) * self.pages
                cost = self.move_cost * self.pages
                return f"the resident stays: moving it would cost {cost:.1f} cr, this one offers {offer:.1f} more"
            case ReasonKind.HEADROOM:
                return (
                    f"needs {self._pages()}; the {self.available_pages} available are left for running contexts to grow"
                )
            case ReasonKind.PAGES_COMING:
                return f"needs {self._pages()}, which others give back after their next pass"
            case ReasonKind.MEMORY:
                return "the system is short of memory"
            case ReasonKind.BATCH_CONTEXTS:
                return "the batch has no slot left"
            case ReasonKind.BATCH_TOKENS:
                return "the batch has no room for its tokens"
            case ReasonKind.USER_SHARE:
                return "other contexts of its user are in the batch, and other users have their share of it"

    def _lost_auction(self) -> str:
        need = f"another needs {self._pages()}" if self.suspended else f"needs {self._pages()}"
        if self.bid < self.price:
            return f"bid {_credits(self.bid)} < clearing price {_credits(self.price)}; {need}"
        if self.kind is ReasonKind.NO_PAGES:
            return f"needs {self._pages()}, {self.available_pages} available, and no other context has to give any back"
        relation = "=" if self.bid == self.against_bid else "<"
        return f"bid {_credits(self.bid)} {relation} bid {_credits(self.against_bid)}; {need}"

    def _pages(self) -> str:
        return plural(self.pages, "page")


def _credits(number: float) -> str:
    """Credits with two decimals, or two digits below 0.1."""
    return f"{number:.2f}" if number >= 0.1 or not number else f"{number:.2g}"
