"""Models that work well here, and which of them a machine has the memory for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes in a model's config.json. `experts` is 1 where there are none, and `inner` the width of one.

    `bits` are those of a weight with its share of scales: MLX's groups of 64 add half a bit. `expert_bits` are those of
    a weight of an expert, 0 for `bits`.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_width: int
    inner: int
    vocabulary: int
    tied: bool = False
    experts: int = 1
    bits: float = 4.5
    expert_bits: float = 0.0

    @property
    def weight_bytes(self) -> int:
        """Bytes of the matrices; norms and biases are not counted, which are less than a hundredth."""
        attention = 2 * self.hidden * self.head_width * (self.heads + self.kv_heads)
        router = self.hidden * self.experts if self.experts > 1 else 0
        embeddings = self.vocabulary * self.hidden * (1 if self.tied else 2)
        plain = self.layers * (attention + router) + embeddings
        inner = self.layers * self.experts * 3 * self.hidden * self.inner
        return int(plain * self.bits + inner * (self.expert_bits or self.bits)) // 8

    @property
    def kv_bytes_per_token(self) -> int:
        """In 16 bits."""
        return 4 * self.layers * self.kv_heads * self.head_width


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A repo of MLX weights."""

    repo: str
    shape: Shape
    good_at: str

    @property
    def weight_bytes(self) -> int:
        return self.shape.weight_bytes

    def needed_bytes(self, context: int) -> int:
        """Memory with one context of that many tokens."""
        return self.weight_bytes + context * self.shape.kv_bytes_per_token


def _model(name: str, shape: Shape, good_at: str) -> Recommendation:
    return Recommendation(f"mlx-community/{name}", shape, good_at)


_QWEN = 151_936
RECOMMENDED = [
    _model("Llama-3.3-70B-Instruct-4bit", Shape(80, 8192, 64, 8, 128, 28672, 128_256), "long texts, many languages"),
    _model("Qwen3-32B-4bit", Shape(64, 5120, 64, 8, 128, 25600, _QWEN), "reasoning, tools"),
    _model(
        "Qwen3-30B-A3B-4bit",
        Shape(48, 2048, 32, 4, 128, 768, _QWEN, experts=128),
        "reasoning and tools, as fast as a small model",
    ),
    _model(
        "gpt-oss-20b-MXFP4-Q8",
        Shape(24, 2880, 64, 8, 64, 2880, 201_088, experts=32, bits=8.5, expert_bits=4.25),
        "reasoning with an effort, tools",
    ),
    _model("Qwen3-14B-4bit", Shape(40, 5120, 40, 8, 128, 17408, _QWEN), "reasoning, tools"),
    _model("Qwen3-8B-4bit", Shape(36, 4096, 32, 8, 128, 12288, _QWEN), "reasoning, tools"),
    _model("Qwen3-4B-4bit", Shape(36, 2560, 32, 8, 128, 9728, _QWEN, tied=True), "chat, tools"),
    _model(
        "Qwen3-1.7B-4bit",
        Shape(28, 2048, 16, 8, 128, 6144, _QWEN, tied=True),
        "chat; a draft model for larger ones",
    ),
    _model("Qwen3-0.6B-4bit", Shape(28, 1024, 16, 8, 128, 3072, _QWEN, tied=True), "trying things; a draft model"),
]
"""Largest first."""


def fitting(memory_bytes: int, context: int) -> list[Recommendation]:
    """The models that leave a tenth of the memory to everything else, largest first."""
    return [one for one in RECOMMENDED if one.needed_bytes(context) <= memory_bytes * 9 // 10]
