"""One model of the engine: whether it is in memory, its pages, and its market."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from pie_mlx.events import AccountMovement, PageUsage, ProcessPages

ModelStateName = Literal["loading", "loaded", "unloading", "unloaded", "failed"]
NO_PAGES = PageUsage(0, 0, 0, 0)


class AccountState(msgspec.Struct, frozen=True):
    """The wallet of a launch root, in credits; `rent` and `dividend` are those of the latest tick that changed it.

    `spent` sums what it has paid for pages and tokens; of an older engine, since the monitor has known it.
    """

    id: int
    endowment: float
    balance: float
    rent: float = 0.0
    make_cost: float = 0.0
    dividend: float = 0.0
    defaulted: bool = False
    balances: tuple[float, ...] = ()
    spent: float = 0.0


def settled(account: AccountState, moved: AccountMovement) -> AccountState:
    """The account after a tick that moved credits."""
    return msgspec.structs.replace(
        account,
        rent=moved.rent,
        make_cost=moved.make_cost,
        dividend=moved.dividend,
        balance=moved.balance,
        defaulted=moved.defaulted,
        spent=moved.spent or account.spent + moved.rent + moved.make_cost,
    )


class PoolSample(msgspec.Struct, frozen=True):
    """The figures of a model in a quarter of a second."""

    used: int
    price: float
    tokens_per_second: float


class ModelPool(msgspec.Struct, frozen=True):
    """`name` is empty where no event tells it. While it is loaded, `progress` of its weights is in memory, from 0 to 1.

    `held` are the pages of processes that hold some. `tokens` and `decoded` count since the latest sample and `ticks`
    from its start. `memory` is how short of memory it found the system, `draft_model` guesses for it.
    """

    name: str = ""
    state: ModelStateName = "loaded"
    progress: float = 0.0
    size_bytes: int = 0
    draft_model: str = ""
    page_size: int = 16
    pages: PageUsage = NO_PAGES
    price: float = 0.0
    treasury: float = 0.0
    spilled_pages: int = 0
    spill: str = ""
    memory: Literal["normal", "warning", "critical"] = "normal"
    ticks: int = 0
    decoded: int = 0
    accounts: Mapping[int, AccountState] = {}
    held: Mapping[str, ProcessPages] = {}
    history: tuple[PoolSample, ...] = ()

    @property
    def is_in_memory(self) -> bool:
        """Whether it has pages and a market now."""
        return self.state in ("loaded", "unloading")

    @property
    def tokens_per_second(self) -> float:
        """Tokens decoded per second, over the latest two seconds."""
        recent = self.history[-8:]
        return sum(sample.tokens_per_second for sample in recent) / len(recent) if recent else 0.0
