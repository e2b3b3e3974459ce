"""Samplers under the names and defaults of the blocking SDK."""

from pie_mlx import calls


def _seed(seed: int) -> int | None:
    """Seed 0 is the context's own random stream."""
    return seed or None


class Sampler:
    """How a token is drawn; `dist` and `embedding` read the row instead, in a `ForwardPass`."""

    @staticmethod
    def greedy() -> calls.Sampler:
        """The most likely token."""
        return calls.Sampler.argmax()

    @staticmethod
    def top_p(temperature: float = 0.6, top_p: float = 0.95) -> calls.Sampler:
        """A draw from the shortest prefix of the sorted tokens whose mass reaches `top_p`."""
        return calls.Sampler.top_p(temperature, top_p)

    @staticmethod
    def top_k(temperature: float = 0.6, top_k: int = 50) -> calls.Sampler:
        """A draw from the `top_k` most likely tokens."""
        return calls.Sampler.top_k(temperature, top_k)

    @staticmethod
    def min_p(temperature: float = 0.6, min_p: float = 0.1) -> calls.Sampler:
        """A draw from the tokens at least `min_p` times as likely as the most likely one."""
        return calls.Sampler.min_p(temperature, min_p)

    @staticmethod
    def multinomial(temperature: float = 1.0, seed: int = 0) -> calls.Sampler:
        """A draw from the whole distribution."""
        return calls.Sampler.multinomial(temperature, seed=_seed(seed))

    @staticmethod
    def top_k_top_p(temperature: float = 0.6, top_k: int = 50, top_p: float = 0.95) -> calls.Sampler:
        """Both filters."""
        return calls.Sampler.top_k_top_p(temperature, top_k, top_p)

    @staticmethod
    def dist(temperature: float = 1.0, seed: int = 0) -> calls.Distribution:
        """The whole distribution: token ids and probabilities, most likely first. `seed` has no effect."""
        del seed
        return calls.Distribution(temperature, 0)

    @staticmethod
    def embedding() -> calls.HiddenState:
        """The row's final hidden state, after the last norm: float32 values."""
        return calls.HiddenState()
