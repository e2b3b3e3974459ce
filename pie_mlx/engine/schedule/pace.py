"""How long pieces of prompts may be beside programs that decode."""

from collections.abc import Sequence

from msgspec.structs import replace

from pie_mlx.engine.schedule.view import Limits, PassView

SHORTEST_PIECES = 32
"""Tokens of all pieces in a batch at least: shorter ones would read the weights again for next to nothing."""


def paced(limits: Limits, passes: Sequence[PassView], prefill_tokens_per_second: float | None) -> Limits:
    """The limits of a batch of `passes`: whoever decodes waits for pieces of prompts `decode_stall_seconds` at most.

    The pieces of all prompts together are cut to what is computed in that time, as measured. Until that is known, and
    while nobody decodes, the limits stay as they are.
    """
    if prefill_tokens_per_second is None or limits.decode_stall_seconds is None:
        return limits
    decoded = [item.tokens for item in passes if item.atomic]
    if not 0 < len(decoded) < len(passes):
        return limits
    together = max(SHORTEST_PIECES, int(prefill_tokens_per_second * limits.decode_stall_seconds))
    return replace(
        limits,
        max_batch_tokens=min(limits.max_batch_tokens, sum(decoded) + together),
        prefill_chunk_tokens=min(limits.prefill_chunk_tokens, together),
    )
