"""What a program was told of tokens that it has not asked for."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Foretold:
    """What a pass drew beyond the token that was asked for, and told its program: `drawn` tokens.

    `rows` are the tokens whose KV lies behind the end of the context, which counts none of them: the one that was asked
    for, and all of the others but the last. It is there as long as no call but the next one names the context, and it
    does not go from the pool: `named` and `suspensions` are the context's of that moment. As many as `limit` may have
    been wanted.
    """

    limit: int = 0
    drawn: int = 0
    rows: Sequence[int] = ()
    named: int = 0
    suspensions: int = 0
