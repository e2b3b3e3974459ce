"""What a scripted model says: a function from prompts to answers, followed token by token."""

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Answers = str | Mapping[str, float]
"""A text, or texts with their probabilities."""
Script = Callable[[str], Answers]
"""From a prompt, with the tokens of its chat template, to what follows."""

CHOSEN, POSSIBLE, OTHER = 20.0, 0.0, -20.0
"""Logits of the next token, of other beginnings of the same text, which a mask may leave, and of all else."""
_LONGEST_TOKEN_BYTES = 32
_KEPT = 8192
"""How many histories are remembered with their answers."""


@dataclass(frozen=True, slots=True)
class _Answer:
    text: bytes
    tokens: tuple[int, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class _Reply:
    """The answers to a prompt, and how far they are written."""

    answers: tuple[_Answer, ...]
    drawn: tuple[int, ...] = ()
    text: bytes = b""


@dataclass(slots=True, eq=False)
class ScriptReader:
    """Turns a script into logits. `script` may be replaced between two runs.

    A history that grows by one token goes on with its answer; any other is a prompt, for which the script is asked
    once. Raises what the script raises.
    """

    tokenizer: Any
    pieces: Sequence[bytes]
    eos: int
    script: Script
    _replies: "OrderedDict[bytes, _Reply]" = field(default_factory=lambda: OrderedDict[bytes, "_Reply"]())
    _by_piece: dict[bytes, int] = field(default_factory=dict[bytes, int])

    def __post_init__(self) -> None:
        self._by_piece = {piece: token for token, piece in reversed(list(enumerate(self.pieces))) if piece}

    def use(self, script: Script) -> None:
        """Follow another script, and forget what the one before has answered."""
        self.script = script
        self._replies.clear()

    def logits(self, history: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """The logits after the tokens of a context, one per entry of the vocabulary."""
        reply = self._reply(history)
        logits = np.full(len(self.pieces), OTHER, np.float32)
        mass: dict[int, float] = {}
        for answer in reply.answers:
            if not answer.text.startswith(reply.text):
                continue
            rest = answer.text[len(reply.text) :]
            for end in range(1, min(len(rest), _LONGEST_TOKEN_BYTES) + 1):
                if (token := self._by_piece.get(rest[:end])) is not None:
                    logits[token] = max(logits[token], POSSIBLE + end)
            token = self._next(answer, reply, rest)
            mass[token] = mass.get(token, 0.0) + answer.weight
        total = sum(mass.values())
        for token, weight in mass.items():
            if weight > 0:
                logits[token] = CHOSEN * 2 + math.log(weight / total)
        if not mass:
            logits[self.eos] = CHOSEN
        return logits

    def _next(self, answer: _Answer, reply: _Reply, rest: bytes) -> int:
        """The token that a tokenizer would write next, if nothing else was drawn so far."""
        place = len(reply.drawn)
        if not rest:
            return self.eos
        if answer.tokens[:place] == reply.drawn and place < len(answer.tokens):
            return answer.tokens[place]
        return self._encode(rest.decode(errors="ignore") or "?")[0]

    def _reply(self, history: npt.NDArray[np.int64]) -> _Reply:
        key = _key(history)
        known = self._replies.get(key)
        if known is None:
            before = self._replies.get(_key(history[:-1])) if len(history) else None
            known = self._asked(history) if before is None else self._continued(before, int(history[-1]))
            self._replies[key] = known
            if len(self._replies) > _KEPT:
                self._replies.popitem(last=False)
        return known

    def _continued(self, before: _Reply, token: int) -> _Reply:
        """Where a mask allows no token of the answer, it is tried again after the one that was allowed."""
        text = before.text + self.pieces[token]
        if not any(answer.text.startswith(text) for answer in before.answers):
            return before
        return _Reply(before.answers, (*before.drawn, token), text)

    def _asked(self, history: npt.NDArray[np.int64]) -> _Reply:
        given = self.script(str(self.tokenizer.decode(history.tolist(), skip_special_tokens=False)))
        weights: Mapping[str, float] = {given: 1.0} if isinstance(given, str) else given
        return _Reply(
            tuple(_Answer(text.encode(), tuple(self._encode(text)), share) for text, share in weights.items())
        )

    def _encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False))


def _key(history: npt.NDArray[np.int64]) -> bytes:
    return hashlib.blake2b(history.tobytes(), digest_size=16).digest()
