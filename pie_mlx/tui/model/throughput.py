"""What batches computed since the latest sample."""

import msgspec

from pie_mlx.events import TickCompleted


class Throughput(msgspec.Struct, frozen=True):
    """`decoded_tokens` were added to texts, `prompt_tokens` are of prompts. `by_passes`: the ticks do not say which,
    and the passes tell; below 0 where those were told before the tick.
    """

    decoded_tokens: int = 0
    prompt_tokens: int = 0
    by_passes: bool = False

    def ticked(self, tick: TickCompleted) -> "Throughput":
        """After a batch."""
        if tick.decoded_tokens is None:
            return Throughput(self.decoded_tokens, self.prompt_tokens + tick.tokens, by_passes=True)
        return Throughput(self.decoded_tokens + tick.decoded_tokens, self.prompt_tokens + tick.prompt_tokens)

    def passed(self, decoded_tokens: int) -> "Throughput":
        """After a pass that added so many tokens to a text."""
        if not self.by_passes:
            return self
        return Throughput(self.decoded_tokens + decoded_tokens, self.prompt_tokens - decoded_tokens, by_passes=True)

    def sampled(self) -> "Throughput":
        """Nothing since."""
        return Throughput(by_passes=self.by_passes)
