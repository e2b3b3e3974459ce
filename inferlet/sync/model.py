"""Models with blocking operations."""

from collections.abc import Iterable

from inferlet.model import Model as AsyncModel
from inferlet.model import Pooling
from inferlet.sync._blocking import wait


class Model(AsyncModel):
    """A model the engine has loaded. `info` is the engine's description of it, `host` the engine, `template` the
    variables of its chat template as JSON text."""

    def embed(  # pyright: ignore[reportIncompatibleMethodOverride] - blocks
        self, texts: Iterable[str | Iterable[int]], *, pooling: Pooling = "mean", normalize: bool = True
    ) -> list[list[float]]:
        """A vector for each text, as long as the model is wide: the mean of the final hidden states of its tokens, or
        with `last` that of its last token; `normalize` to length 1. A text may be given as its tokens."""
        return wait(super().embed(texts, pooling=pooling, normalize=normalize))
