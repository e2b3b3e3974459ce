"""Reports to watchers which tokens a program drew, with what the device found out about each draw."""

import math

from pie_mlx.engine.handlers.forward.speculating import DraftedPass
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.model.runner.token_watch import TokenWatch, WatchedDraw
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.events import DrawnToken, LikelyToken, TokensDrawn


def report_drawn(
    services: Services,
    process: HostedProcess,
    context: LiveContext,
    watch: TokenWatch,
    *,
    drafted: DraftedPass | None = None,
    claimed: int = 0,
) -> None:
    """Emit the tokens that the program of a watched context has used: those counted so far, and `claimed` more."""
    tokenizer, right, rejected = services.language.tokenizer, range(0), list[int]()
    if drafted is not None:
        path, begin = drafted.verification.path, context.sampled - len(drafted.emitted())
        right = range(begin, begin + len(path))
        rejected = [token for place, token in enumerate(drafted.window.tree.tokens) if place not in path]
        for place in path if drafted.watches else ():
            for counter, draw in drafted.watches[place].take(context.sampled).items():
                watch.add(counter, draw)
    draws = watch.take(context.sampled + claimed)
    if draws:
        tokens = tuple(_drawn(tokenizer, draw, counter in right) for counter, draw in draws.items())
        texts = tuple(map(tokenizer.piece, rejected))
        services.emit(TokensDrawn(process.id, context.id, min(draws), tokens, texts))


def _drawn(tokenizer: Tokenizer, draw: WatchedDraw, drafted: bool) -> DrawnToken:
    likely = tuple(LikelyToken(token, tokenizer.piece(token), _part(logprob)) for token, logprob in draw.likely)
    text = tokenizer.piece(draw.token)
    return DrawnToken(draw.token, text, _part(draw.logprob), likely, draw.allowed, drafted)


def _part(logprob: float) -> float:
    """A probability, as exact as a monitor shows it."""
    return round(math.exp(min(0.0, logprob)), 5)
