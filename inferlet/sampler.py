"""Samplers, which draw tokens, and probes, which read a row of logits without drawing."""

from pie_mlx.calls import (
    AttentionScores,
    Distribution,
    Entropy,
    HiddenMean,
    HiddenState,
    Logits,
    Logprob,
    Logprobs,
    Probe,
    Sampler,
)

__all__ = [
    "AttentionScores",
    "Distribution",
    "Entropy",
    "HiddenMean",
    "HiddenState",
    "Logits",
    "Logprob",
    "Logprobs",
    "Probe",
    "Sampler",
]
