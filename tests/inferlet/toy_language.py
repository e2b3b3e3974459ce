"""A tiny language for the engine double: one token per ASCII character, a chat format, and a predictable model.

Inside an assistant turn the model says its reply, character by character, and ends the turn. Elsewhere it counts
upwards through the characters.
"""

import math
import random
from collections.abc import Sequence

from pie_mlx import calls
from pie_mlx.errors import InvalidArgumentError

SPECIAL = ["<s>", "<sys>", "<user>", "<bot>", "<end>", "<eos>", "<tool>"]
BOS, SYSTEM, USER, BOT, END, EOS, TOOL = range(len(SPECIAL))
FIRST = len(SPECIAL)
CHARACTERS = [chr(code) for code in range(32, 127)]
VOCABULARY = FIRST + len(CHARACTERS)
STOPS = [END, EOS]


def encode(text: str) -> list[int]:
    tokens: list[int] = []
    while text:
        special = next((name for name in SPECIAL if text.startswith(name)), None)
        tokens.append(SPECIAL.index(special) if special else FIRST + CHARACTERS.index(text[0]))
        text = text[len(special) if special else 1 :]
    return tokens


def decode(tokens: Sequence[int]) -> str:
    for token in tokens:
        if not 0 <= token < VOCABULARY:
            raise InvalidArgumentError(f"token {token}: outside the vocabulary")
    return "".join((SPECIAL + CHARACTERS)[token] for token in tokens)


def next_token(seen: Sequence[int], reply: str) -> int:
    """What the model likes best after `seen`."""
    if BOT in seen:
        said = len(seen) - 1 - max(place for place, token in enumerate(seen) if token == BOT)
        return encode(reply)[said] if said < len(reply) else END
    return FIRST + (max(seen[-1] - FIRST, 0) + 1) % len(CHARACTERS)


def logits(best: int) -> list[float]:
    """A row of logits: the best token far ahead, the others falling with their distance from it."""
    return [12.0 if token == best else -abs(token - best) / 16 for token in range(VOCABULARY)]


def probabilities(row: Sequence[float], temperature: float = 1.0) -> list[float]:
    top = max(row)
    weights = [math.exp((value - top) / temperature) for value in row]
    return [weight / sum(weights) for weight in weights]


def draw(row: Sequence[float], sampler: calls.Sampler, stream: random.Random) -> int:
    """One token; filters are not needed here, the tests of the engine cover them."""
    if sampler.is_argmax:
        return max(range(len(row)), key=lambda token: (row[token], -token))
    return stream.choices(range(len(row)), probabilities(row, sampler.temperature))[0]


def read_slot(
    row: list[float], allowed: set[int], read: calls.Sampler | calls.Probe, stream: random.Random
) -> calls.AnyResult:
    """What a slot reads of a row: samplers see only the allowed tokens, probes see all."""
    match read:
        case calls.Sampler():
            masked = [value if token in allowed else -math.inf for token, value in enumerate(row)]
            return calls.SampledTokens([draw(masked, read, stream) for _ in range(read.draws)])
        case calls.Logits():
            return calls.RawLogits(memoryview(bytearray(4 * len(row))).tobytes())
        case calls.Distribution():
            shares = probabilities(row, read.temperature)
            order = sorted(range(len(row)), key=lambda token: -shares[token])[: read.k or len(row)]
            return calls.Probabilities(order, [shares[token] for token in order])
        case calls.Logprob():
            return calls.LogprobValues([math.log(probabilities(row)[read.token_id])])
        case calls.Logprobs():
            return calls.LogprobValues([math.log(probabilities(row)[token]) for token in read.token_ids])
        case calls.Entropy():
            return calls.EntropyValue(-sum(share * math.log(share) for share in probabilities(row)))


def render(turn: calls.Turn, state: calls.ChatState) -> calls.RenderedTurn:
    """System and tool turns wait for the first user turn; everything else is written at once."""
    if turn.role in ("system", "tools") and state.last is None:
        return calls.RenderedTurn([], calls.ChatState(held=[*state.held, turn]))
    due = [*state.held] if turn.role == "flush" else [*state.held, turn]
    start = [] if state.last is not None or not due else [BOS]
    text = "".join(_written(one) for one in due)
    return calls.RenderedTurn(start + encode(text), calls.ChatState(turn.role) if due else state)


def _written(turn: calls.Turn) -> str:
    match turn.role:
        case "cue":
            return "<bot>"
        case "seal":
            return "<end>"
        case "tools":
            return f"<sys>{' '.join(turn.schemas)}<end>"
        case "tool_result":
            return f"<tool>{turn.name}={turn.text}<end>"
        case "assistant":
            return f"<bot>{turn.text}<end>"
        case _:
            return f"<{'sys' if turn.role == 'system' else 'user'}>{turn.text}<end>"
