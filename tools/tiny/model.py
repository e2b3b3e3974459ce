"""A small Qwen3 decoder in PyTorch, trained on whole conversations laid end to end without padding.

Tensor names are those of the published Qwen3 checkpoints, so a state dict is a loadable model as it is.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# Products in bfloat16 take less than half the time where the processor has them; all else stays float32.
PRODUCTS = torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else torch.float32


@dataclass(frozen=True)
class TinyConfig:
    """Sizes of the model; `as_huggingface` gives the config.json of the same model."""

    vocab_size: int = 2048
    hidden_size: int = 192
    intermediate_size: int = 512
    num_hidden_layers: int = 5
    num_attention_heads: int = 6
    num_key_value_heads: int = 2
    head_dim: int = 32
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-6
    max_position_embeddings: int = 4096

    def as_huggingface(self) -> dict[str, Any]:
        return {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            **self.__dict__,
            "attention_bias": False,
            "hidden_act": "silu",
            "tie_word_embeddings": True,
            "rope_scaling": None,
            "use_sliding_window": False,
            "dtype": "float16",
            "eos_token_id": 2,
            "pad_token_id": 0,
        }


def project(x: Tensor, weight: Tensor, training: bool) -> Tensor:
    """x: [T, in], weight: [out, in] -> [T, out] float32; exact products unless training."""
    if training:
        return functional.linear(x.to(PRODUCTS), weight.to(PRODUCTS)).float()
    return functional.linear(x, weight)


class Linear(nn.Linear):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, bias=False)

    def forward(self, input: Tensor) -> Tensor:
        return project(input, self.weight, self.training)


class Attention(nn.Module):
    """Grouped-query attention with normalised queries and keys, each conversation apart."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.heads, self.groups, self.size = config.num_attention_heads, config.num_key_value_heads, config.head_dim
        self.q_proj = Linear(config.hidden_size, self.heads * self.size)
        self.k_proj = Linear(config.hidden_size, self.groups * self.size)
        self.v_proj = Linear(config.hidden_size, self.groups * self.size)
        self.o_proj = Linear(self.heads * self.size, config.hidden_size)
        self.q_norm = nn.RMSNorm(self.size, eps=config.rms_norm_eps)
        self.k_norm = nn.RMSNorm(self.size, eps=config.rms_norm_eps)

    def projected(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x: [T, hidden]; cos and sin: [T, 1, head_dim] -> queries, keys and values, each [heads, T, head_dim]."""
        queries = rotate(self.q_norm(self.q_proj(x).view(-1, self.heads, self.size)), cos, sin)
        keys = rotate(self.k_norm(self.k_proj(x).view(-1, self.groups, self.size)), cos, sin)
        values = self.v_proj(x).view(-1, self.groups, self.size)
        repeats = self.heads // self.groups
        keys, values = keys.repeat_interleave(repeats, 1), values.repeat_interleave(repeats, 1)
        return queries.transpose(0, 1), keys.transpose(0, 1), values.transpose(0, 1)


class FeedForward(nn.Module):
    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.gate_proj = Linear(config.hidden_size, config.intermediate_size)
        self.up_proj = Linear(config.hidden_size, config.intermediate_size)
        self.down_proj = Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = FeedForward(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def before(self, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.self_attn.projected(self.input_layernorm(x), cos, sin)

    def after(self, x: Tensor, mixed: Tensor, rows: Tensor | None) -> Tensor:
        """x: [T, hidden]; mixed: [heads, T, head_dim] -> [T or rows, hidden]."""
        x = x + self.self_attn.o_proj(mixed.transpose(0, 1).reshape(x.shape[0], -1))
        x = x if rows is None else x[rows]
        return x + self.mlp(self.post_attention_layernorm(x))


def attend(queries: Tensor, keys: Tensor, values: Tensor, lengths: list[int]) -> Tensor:
    """Causal attention within each conversation; all [heads, T, head_dim], `lengths` summing to T."""
    parts = (t.split(lengths, 1) for t in (queries, keys, values))
    mixed = [
        functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
        for q, k, v in zip(*parts, strict=True)
    ]
    return torch.cat(mixed, 1)


class Decoder(nn.Module):
    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)


class TinyModel(nn.Module):
    """tokens [T] of several conversations end to end -> hidden states of `rows` (all if None), [rows, hidden]."""

    def __init__(self, config: TinyConfig, fused: bool = False) -> None:
        super().__init__()
        self.config = config
        # Fused, all but attention and matrix products becomes a few loops: a sixth less time, half a minute at the
        # start, and a C++ compiler is needed.
        self.before = torch.compile(Layer.before, dynamic=True) if fused else Layer.before
        self.after = torch.compile(Layer.after, dynamic=True) if fused else Layer.after
        self.model = Decoder(config)
        self.apply(self._initialise)
        for layer in self.model.layers:
            for projection in (layer.self_attn.o_proj, layer.mlp.down_proj):
                nn.init.normal_(projection.weight, std=0.02 / math.sqrt(2 * config.num_hidden_layers))

    @staticmethod
    def _initialise(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(
                module.weight, std=0.02 if isinstance(module, nn.Embedding) else module.weight.shape[1] ** -0.5
            )

    def forward(self, tokens: Tensor, lengths: list[int], rows: Tensor | None = None) -> Tensor:
        positions = torch.cat([torch.arange(length) for length in lengths])
        cos, sin = rotary_angles(positions, self.config)
        x = self.model.embed_tokens(tokens)
        for layer in self.model.layers:
            mixed = attend(*self.before(layer, x, cos, sin), lengths)
            # Only rows that are learned need the last feed-forward block: an eighth of the work.
            x = self.after(layer, x, mixed, rows if layer is self.model.layers[-1] else None)
        return self.model.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        return project(hidden, self.model.embed_tokens.weight, self.training)


def rotary_angles(positions: Tensor, config: TinyConfig) -> tuple[Tensor, Tensor]:
    """Cosines and sines [T, 1, head_dim] of the half-split rotary embedding (Su et al. 2021)."""
    exponents = torch.arange(0, config.head_dim, 2).float() / config.head_dim
    angles = positions[:, None].float() * config.rope_theta**-exponents
    angles = torch.cat([angles, angles], 1)[:, None]
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin
