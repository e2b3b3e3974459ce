"""Models that work well here, and which of them a machine has the memory for."""

from dataclasses import dataclass

_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A repo of MLX weights, the bytes of its weights, and of KV per token in 16 bits."""

    repo: str
    weight_bytes: int
    kv_bytes_per_token: int
    good_at: str

    def needed_bytes(self, context: int) -> int:
        """Memory with one context of that many tokens."""
        return self.weight_bytes + context * self.kv_bytes_per_token


def _model(name: str, gib: float, layers: int, heads: int, width: int, good_at: str) -> Recommendation:
    return Recommendation(f"mlx-community/{name}", int(gib * _GIB), 4 * layers * heads * width, good_at)


RECOMMENDED = [
    _model("Llama-3.3-70B-Instruct-4bit", 37.0, 80, 8, 128, "long texts, many languages"),
    _model("Qwen3-32B-4bit", 17.2, 64, 8, 128, "reasoning, tools"),
    _model("Qwen3-30B-A3B-4bit", 16.0, 48, 4, 128, "reasoning and tools, as fast as a small model"),
    _model("gpt-oss-20b-MXFP4-Q8", 11.3, 24, 8, 64, "reasoning with an effort, tools"),
    _model("Qwen3-14B-4bit", 7.8, 40, 8, 128, "reasoning, tools"),
    _model("Qwen3-8B-4bit", 4.3, 36, 8, 128, "reasoning, tools"),
    _model("Qwen3-4B-4bit", 2.1, 36, 8, 128, "chat, tools"),
    _model("Qwen3-1.7B-4bit", 0.91, 28, 8, 128, "chat; a draft model for larger ones"),
    _model("Qwen3-0.6B-4bit", 0.32, 28, 8, 128, "trying things; a draft model"),
]
"""Largest first. Sizes are those of their files."""


def fitting(memory_bytes: int, context: int) -> list[Recommendation]:
    """Those that leave a tenth of the memory to everything else, largest first."""
    return [one for one in RECOMMENDED if one.needed_bytes(context) <= memory_bytes * 9 // 10]
