"""How tokens are drawn, and what can be read from a row of logits without drawing."""

from pie_mlx.calls import Distribution, Entropy, HiddenState, Logits, Logprob, Logprobs, Probe, Sampler

__all__ = ["Distribution", "Entropy", "HiddenState", "Logits", "Logprob", "Logprobs", "Probe", "Sampler"]
