"""What a pass reads of a row of logits, and the results, as components write them."""

import struct
from typing import Any

from pie_mlx import calls
from pie_mlx.calls import AnyResult, Probe, Sampler


def as_read(sampler: tuple[str, Any]) -> Sampler | Probe:
    """Raises InvalidArgumentError outside of what a sampler accepts."""
    kind, values = sampler
    match kind:
        case "multinomial":
            temperature, draws = values
            return Sampler.multinomial(temperature, max(1, draws))
        case "top-k":
            return Sampler.top_k(*values)
        case "top-p":
            return Sampler.top_p(*values)
        case "min-p":
            return Sampler.min_p(*values)
        case "top-k-top-p":
            return Sampler.top_k_top_p(*values)
        case "dist":
            return calls.Distribution(*values)
        case "embedding":
            return calls.HiddenState()
        case "raw-logits":
            return calls.Logits()
        case "logprob":
            return calls.Logprob(values)
        case "logprobs":
            return calls.Logprobs(values)
        case _:
            return calls.Entropy()


def as_slots(result: AnyResult) -> list[tuple[str, Any]]:
    """The outputs of one slot: a sampler has one for each token."""
    match result:
        case calls.SampledTokens(tokens=tokens):
            return [("token", token) for token in tokens]
        case calls.RawLogits(data=data):
            return [("logits", data)]
        case calls.Probabilities(token_ids=token_ids, probabilities=probabilities):
            return [("distribution", (token_ids, probabilities))]
        case calls.LogprobValues(values=values):
            return [("logprobs", values)]
        case calls.EntropyValue(nats=nats):
            return [("entropy", nats)]
        case calls.HiddenStateValues(values=values):
            return [("embedding", struct.pack(f"<{len(values)}f", *values))]
        case calls.AttentionScoreValues():
            raise RuntimeError("attention scores: no component can ask for them")
