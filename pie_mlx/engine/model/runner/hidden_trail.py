"""Hidden states that a context leaves behind, for a head that guesses what it writes next."""

from collections import deque

import mlx.core as mx

MOST_ROWS = 128
"""Hidden states that wait for a guess; of a longer prompt the last ones do.

Reading them takes a head as long as a layer of the model takes with so many tokens of a prompt, and what lies further
back adds little: 1.5 % to pie-tiny's tokens per pass.
"""


class HiddenTrail:
    """Pieces of consecutive tokens: the place of the first, and their hidden states [tokens, width].

    The device's thread adds to it while a pass of the context runs; in between it is the engine's.
    """

    def __init__(self) -> None:
        self._pieces: deque[tuple[int, mx.array]] = deque()
        self._rows = 0

    def add(self, first: int, rows: mx.array) -> None:
        """Add the hidden states of the tokens from place `first` on."""
        if (spare := rows.shape[0] - MOST_ROWS) > 0:
            first, rows = first + spare, rows[spare:]
        self._pieces.append((first, rows))
        self._rows += rows.shape[0]
        while self._rows - self._pieces[0][1].shape[0] >= MOST_ROWS:
            self._rows -= self._pieces.popleft()[1].shape[0]

    def __len__(self) -> int:
        """How many hidden states wait."""
        return self._rows

    def take(self) -> list[tuple[int, mx.array]]:
        """Remove and return all pieces, in order."""
        pieces = list(self._pieces)
        self._pieces.clear()
        self._rows = 0
        return pieces
