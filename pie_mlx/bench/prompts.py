"""Prompts of given lengths, as token ids, so that no tokenizer decides the amount of work."""

_SMALLEST_VOCABULARY = 1900


def prompt(length: int, seed: int) -> list[int]:
    """A prompt that shares no prefix with those of other seeds."""
    return [1 + (seed * 7919 + place * 104729) % _SMALLEST_VOCABULARY for place in range(length)]


def ragged(streams: int, first_seed: int = 0) -> list[list[int]]:
    """Prompts of 32 to 96 tokens; the lengths do not depend on the seed."""
    return [prompt(32 + (stream * 37) % 65, first_seed + stream) for stream in range(streams)]
