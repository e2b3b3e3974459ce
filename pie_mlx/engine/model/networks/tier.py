"""How a model architecture is put on the page pool."""

from dataclasses import dataclass
from enum import Enum


class Layout(Enum):
    """What a forward pass computes at once.

    TOKENS: every token is a row [T, 1] with its own position; anything mixes. EQUAL: rows [B, L] of equal length, for
    recurrent layers and for models that need K and V. ALONE: one context with an integer offset, for models that do
    arithmetic on it.
    """

    TOKENS = "tokens"
    EQUAL = "equal"
    ALONE = "alone"


@dataclass(frozen=True, slots=True)
class Tier:
    """Layout, and whether attention reads the pages (`paged`) or the model sees them gathered.

    `latent`: pages hold what all heads attend to instead of the keys and values of each.
    """

    layout: Layout
    paged: bool
    latent: bool = False

    @property
    def name(self) -> str:
        return "paged latents" if self.latent else f"{'paged' if self.paged else 'dense'} {self.layout.value}"


PAGED = Tier(Layout.TOKENS, True)
LATENT = Tier(Layout.TOKENS, True, latent=True)
RECURRENT = Tier(Layout.EQUAL, True)
DENSE = Tier(Layout.EQUAL, False)
ALONE = Tier(Layout.ALONE, False)

TIERS = {tier.name: tier for tier in (PAGED, LATENT, RECURRENT, DENSE, ALONE)}
"""By name."""
