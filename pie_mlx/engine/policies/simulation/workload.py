"""What simulated programs do: plain data."""

import math

import msgspec


class Turn(msgspec.Struct, frozen=True, tag=True):
    """Run `prompt_tokens` and generate `reply_tokens`; `max_tokens` is what the program allows, as seen by bids.

    `variation` is the squared coefficient of variation of that number. `attached_tokens` come first and take pages but
    no time. `bid` is what the program declared, None where it left that to the generator.
    """

    prompt_tokens: int
    reply_tokens: int
    max_tokens: float
    variation: float = 1.0
    attached_tokens: int = 0
    bid: float | None = None


class Pause(msgspec.Struct, frozen=True, tag=True):
    """Do nothing for `seconds` (a user types, a tool runs) and keep the context; `idle` bids 0 meanwhile.

    `expected_seconds` is what the program says of it, None where it says nothing (B10).
    """

    seconds: float = math.inf
    idle: bool = False
    expected_seconds: float | None = None


class Search(msgspec.Struct, frozen=True, tag=True):
    """Fork `branches` children that each do `turn` at the same time, and drop them."""

    branches: int
    turn: Turn


class Branch(msgspec.Struct, frozen=True, tag=True):
    """Start script `script` of the program in a context of its own, and go on: a fork of this one, or an empty one."""

    script: int
    forks: bool = True


class Truncate(msgspec.Struct, frozen=True, tag=True):
    """Take back the last `tokens`, as far as they are not shared; their pages are kept."""

    tokens: int


class Mark(msgspec.Struct, frozen=True, tag=True):
    """Let every context of the program that awaits `label` know."""

    label: int


class Await(msgspec.Struct, frozen=True, tag=True):
    """Go on when all `labels` are marked; `idle` bids 0 meanwhile."""

    labels: tuple[int, ...]
    idle: bool = False


Action = Turn | Pause | Search | Branch | Truncate | Mark | Await


class Program(msgspec.Struct, frozen=True):
    """One launch root: `value` is what a generated token is worth to its user, `endowment` is in credits.

    `scripts` are what its branches run. `account` is the number of its account, 0 to be given one. Each of its contexts
    needs `state_pages` before its first token, for the state of recurrent layers.
    """

    kind: str
    arrival_seconds: float
    endowment: float
    actions: tuple[Action, ...]
    value: float = 1.0
    scripts: tuple[tuple[Action, ...], ...] = ()
    account: int = 0
    state_pages: int = 0


class Device(msgspec.Struct, frozen=True):
    """A device that computes nothing and takes as long as a real one: so much a batch, so much more a token.

    Pages whose content is reclaimed are written to a disk and read back later, unless computing them again is faster
    (R3). Nothing is computed meanwhile.
    """

    seconds_per_batch: float = 0.010
    seconds_per_token: float = 0.0005
    seconds_per_page_written: float = 0.00025
    seconds_per_page_read: float = 0.00025

    def batch_seconds(self, tokens: int) -> float:
        return self.seconds_per_batch + self.seconds_per_token * tokens

    def spills(self, page_size: int) -> bool:
        """Whether the disk is faster than computing again."""
        return self._spill_seconds < self.seconds_per_token * page_size

    def page_seconds(self, page_size: int) -> float:
        """What it takes to bring a page back, in the cheaper way."""
        return min(self._spill_seconds, self.seconds_per_token * page_size)

    @property
    def _spill_seconds(self) -> float:
        return self.seconds_per_page_written + self.seconds_per_page_read


class Setup(msgspec.Struct, frozen=True):
    """The simulated engine's sizes."""

    capacity_pages: int
    page_size: int = 16
    page_price: float = 1.0
    device: Device = Device()
