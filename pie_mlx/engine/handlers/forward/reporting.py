"""Reports the tokens of a pass while a client asks for them."""

from collections.abc import Iterator, Sequence

from pie_mlx import calls
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.events import TokensComputed

EVENT_TOKENS = 2000
"""Inputs of a long prompt in one event, which has to fit a frame."""
MOST_LIKELY = 8
_NOTHING_DRAWN = calls.SampledTokens([])


def report_tokens(
    services: Services,
    process: HostedProcess,
    context: LiveContext,
    held: int,
    inputs: Sequence[WorkingToken],
    results: Sequence[calls.AnyResult],
) -> None:
    """Emit the `inputs` that a pass added to a context of `held` tokens, and what was drawn and read after them."""
    pieces, tokens = services.language.tokenizer.bytes_by_id.tokens, [one.token for one in inputs]
    *before, last = [tokens[start : start + EVENT_TOKENS] for start in range(0, len(tokens), EVENT_TOKENS)]
    for part in before:
        put = tuple(pieces.get(token, b"") for token in part)
        services.emit(TokensComputed(process.id, context.id, held, tuple(part), pieces=put))
        held += len(part)
    sampled, likely = _sampled(results), tuple(_likely(results))
    services.emit(
        TokensComputed(
            process.id,
            context.id,
            held,
            tuple(last),
            tuple(sampled.tokens),
            tuple(sampled.logprobs),
            likely,
            tuple(pieces.get(token, b"") for token in (*last, *sampled.tokens)),
            tuple(pieces.get(token, b"") for token, _ in likely),
        )
    )


def _sampled(results: Sequence[calls.AnyResult]) -> calls.SampledTokens:
    return next((result for result in results if isinstance(result, calls.SampledTokens)), _NOTHING_DRAWN)


def _likely(results: Sequence[calls.AnyResult]) -> Iterator[tuple[int, float]]:
    for result in results:
        if isinstance(result, calls.Probabilities):
            pairs = zip(result.token_ids, result.probabilities, strict=True)
            yield from list(pairs)[:MOST_LIKELY]
            return
