"""What watched programs draw, one stream of tokens for each of their contexts."""

from collections.abc import Mapping

import msgspec

from pie_mlx.events import DrawnToken, TokensDrawn

MOST_TOKENS = 2000
STREAMS = 32


class StreamedToken(msgspec.Struct, frozen=True):
    """A token, the `rejected` drafts that stood where it and later ones do, and how many tokens before it were
    `missed`."""

    drawn: DrawnToken
    rejected: tuple[str, ...] = ()
    missed: int = 0


class TokenStream(msgspec.Struct, frozen=True):
    """The latest tokens of a context; `end` counts all that it drew, of which so many were `missed`."""

    process: str
    context: int
    tokens: tuple[StreamedToken, ...] = ()
    end: int = 0
    missed: int = 0


TokenStreams = Mapping[int, TokenStream]
"""By context, the one that drew last at the end."""


def after_drawn(streams: TokenStreams, event: TokensDrawn) -> dict[int, TokenStream]:
    """The streams after a context drew tokens. The oldest tokens and streams are forgotten."""
    stream = streams.get(event.context) or TokenStream(event.process, event.context, end=event.first)
    missed = max(0, event.first - stream.end)
    last = len(event.tokens) - 1
    new = [
        StreamedToken(token, event.rejected if place == last else (), 0 if place else missed)
        for place, token in enumerate(event.tokens)
    ]
    kept = msgspec.structs.replace(
        stream,
        tokens=(*stream.tokens, *new)[-MOST_TOKENS:],
        end=event.first + len(event.tokens),
        missed=stream.missed + missed,
    )
    others = [each for each in streams.values() if each.context != event.context]
    return {each.context: each for each in (*others[1 - STREAMS :], kept)}
