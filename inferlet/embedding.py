"""What a model makes of texts: vectors, and an order of documents."""

from dataclasses import dataclass


class Embeddings(list[list[float]]):
    """A vector for each text, in their order; `token_counts` are the tokens of each, special ones included."""

    def __init__(self, vectors: list[list[float]], token_counts: list[int]) -> None:
        super().__init__(vectors)
        self.token_counts = token_counts


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document by its `index` among those that were given, and its score: higher is better."""

    index: int
    score: float


class Ranking(list[Ranked]):
    """Documents, the best one first; `token_counts` are the tokens that were read for each document, in the order in
    which they were given."""

    def __init__(self, ranked: list[Ranked], token_counts: list[int]) -> None:
        super().__init__(ranked)
        self.token_counts = token_counts
