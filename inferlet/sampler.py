"""Samplers, which draw tokens, and probes, which read a row of logits without drawing."""

from pie_mlx.calls import Distribution, Entropy, HiddenMean, HiddenState, Logits, Logprob, Logprobs, Probe, Sampler

__all__ = ["Distribution", "Entropy", "HiddenMean", "HiddenState", "Logits", "Logprob", "Logprobs", "Probe", "Sampler"]
