"""What a watched program draws. Emitted only while somebody watches it, and sent only to its watchers."""

import msgspec

from pie_mlx.events.base import Event


class LikelyToken(msgspec.Struct, frozen=True):
    """A token that could have been drawn. Bytes of `text` that are no whole character read `\\xf0`."""

    token: int
    text: str
    probability: float


class DrawnToken(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token that was drawn, and the most `likely` ones, which may include it, falling.

    Probabilities are at temperature 1, before penalties and masks. Grammars and masks `allowed` so many tokens: 1 for a
    forced token, 0 where there were none. `drafted`: a draft had it right.
    """

    token: int
    text: str
    probability: float
    likely: tuple[LikelyToken, ...] = ()
    allowed: int = 0
    drafted: bool = False


class TokensDrawn(Event, frozen=True):
    """Tokens that a watched program drew in one call, one after the other. `first` counts the tokens that the context
    drew before them. `rejected` are texts of drafts that were verified and not drawn."""

    process: str
    context: int
    first: int
    tokens: tuple[DrawnToken, ...]
    rejected: tuple[str, ...] = ()
