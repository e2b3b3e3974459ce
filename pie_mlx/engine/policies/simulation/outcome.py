"""What a simulated run was like."""

import msgspec


class TurnRecord(msgspec.Struct, frozen=True):
    """One finished turn: `tokens` generated between the two times."""

    kind: str
    account: int
    started_seconds: float
    finished_seconds: float
    tokens: int

    @property
    def seconds_per_token(self) -> float:
        return (self.finished_seconds - self.started_seconds) / self.tokens


class AccountRecord(msgspec.Struct):
    """One program: what it got while it wanted something. `computed_tokens` are those of prompts and replies, once;
    `working_seconds` leaves pauses out."""

    kind: str
    value: float
    wanted_tokens: int
    generated_tokens: int = 0
    computed_tokens: int = 0
    working_seconds: float = 0.0
    finished_seconds: float | None = None


class Outcome(msgspec.Struct):
    """Counts over a whole run. `wasted_pages` were brought back because their content was lost, `moving_seconds` is
    the time that went into writing and reading them. `held_tokens` were in the contexts of turns when these began."""

    accounts: dict[int, AccountRecord] = {}
    turns: list[TurnRecord] = []
    seconds: float = 0.0
    ticks: int = 0
    useful_tokens: int = 0
    held_tokens: int = 0
    replayed_tokens: int = 0
    wasted_pages: int = 0
    moving_seconds: float = 0.0
    suspensions: int = 0
    longest_wait_seconds: float = 0.0
    longest_wait_ticks: int = 0
