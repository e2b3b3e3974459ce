"""The token wallet: how much work a launch may still do (M3)."""

import msgspec

from pie_mlx.errors import TokenBudgetError


class TokenWallet(msgspec.Struct, frozen=True):
    """`remaining` tokens (None: unlimited), of which `reserved` are promised to passes in flight."""

    remaining: int | None = None
    reserved: int = 0

    @property
    def free(self) -> int | None:
        """Tokens that a further pass may use; None when unlimited."""
        return None if self.remaining is None else max(self.remaining - self.reserved, 0)


class Reservation(msgspec.Struct, frozen=True):
    """The tokens reserved for a pass: all its inputs and the first `drafts` drafts. Return it with `charge_pass`."""

    inputs: int
    drafts: int

    @property
    def tokens(self) -> int:
        return self.inputs + self.drafts


def reserve_pass(wallet: TokenWallet, inputs: int, drafts: int = 0) -> tuple[TokenWallet, Reservation]:
    """Reserves tokens for a pass and drops drafts that do not fit. Raises TokenBudgetError if the inputs do not fit."""
    free = wallet.free
    if free is None:
        return wallet, Reservation(inputs, drafts)
    if inputs > free:
        raise TokenBudgetError(
            f"a pass of {inputs} tokens needs more than the {free} tokens left of the token budget",
            hint="launch with a larger token_budget, or shorten the input",
            needed=inputs,
            remaining=free,
        )
    reservation = Reservation(inputs, min(drafts, free - inputs))
    return msgspec.structs.replace(wallet, reserved=wallet.reserved + reservation.tokens), reservation


def charge_pass(wallet: TokenWallet, reservation: Reservation, appended: int) -> TokenWallet:
    """Charges a pass for the `appended` tokens, cache hits included; 0 if it failed or was cancelled.

    A later truncation refunds nothing.
    """
    if wallet.remaining is None:
        return wallet
    return TokenWallet(max(wallet.remaining - appended, 0), max(wallet.reserved - reservation.tokens, 0))
