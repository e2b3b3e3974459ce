"""Models with blocking operations."""

from collections.abc import Iterable

from inferlet.embedding import Embeddings, Ranking
from inferlet.model import Model as AsyncModel
from inferlet.sync._blocking import wait
from pie_mlx.calls import Pooling


class Model(AsyncModel):
    """A model the engine has loaded. `info` is the engine's description of it, `host` the engine, `template` the
    variables of its chat template as JSON text."""

    def embed(  # pyright: ignore[reportIncompatibleMethodOverride] - blocks
        self,
        texts: Iterable[str | Iterable[int]],
        *,
        prompt: str | None = None,
        prompt_name: str | None = None,
        dimensions: int | None = None,
        truncate: bool = False,
        pooling: Pooling | None = None,
        normalize: bool | None = None,
    ) -> Embeddings:
        """A vector for each text, made as the model was trained for; a text may be given as its tokens."""
        return wait(
            super().embed(
                texts,
                prompt=prompt,
                prompt_name=prompt_name,
                dimensions=dimensions,
                truncate=truncate,
                pooling=pooling,
                normalize=normalize,
            )
        )

    def rerank(  # pyright: ignore[reportIncompatibleMethodOverride] - blocks
        self,
        query: str,
        documents: Iterable[str],
        *,
        top_n: int | None = None,
        instruction: str | None = None,
        truncate: bool = False,
    ) -> Ranking:
        """The documents in the order in which they answer the query, the best one first; of them the `top_n`."""
        return wait(super().rerank(query, documents, top_n=top_n, instruction=instruction, truncate=truncate))
