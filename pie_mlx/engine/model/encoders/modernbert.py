"""ModernBERT (Warner et al. 2024): rotated positions, gated matrices, and attention that is local in most layers."""

from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.encoders.configuration import Settings
from pie_mlx.engine.model.encoders.layers import Head, Part, activation, attend, layers

NAMES = (
    (r"^model\.", ""),
    (r"^embeddings\.tok_embeddings\.", "words."),
    (r"^embeddings\.norm\.", "norm."),
    (r"\.attn\.Wqkv\.", ".qkv."),
    (r"\.attn\.Wo\.", ".out."),
    (r"\.mlp\.Wi\.", ".up."),
    (r"\.mlp\.Wo\.", ".down."),
    (r"^classifier\.", "head.out."),
)
"""From names of weights in files to those here, in order."""


class Layer(Part):
    """Attention, then gated matrices, each of the normalised input and added to it."""

    def __init__(self, settings: Settings, index: int) -> None:
        super().__init__()
        width, inner = settings.width, settings.integer("intermediate_size")
        bias, norm = settings.flag("attention_bias"), settings.flag("norm_bias")
        self.heads, self.is_local = settings.heads, _is_local(settings, index)
        self.first = index == 0  # the norm of the embeddings comes right before
        if not self.first:
            self.attn_norm = layers.LayerNorm(width, eps=settings.epsilon, bias=norm)
        self.qkv, self.out = layers.Linear(width, 3 * width, bias=bias), layers.Linear(width, width, bias=bias)
        self.rope = layers.RoPE(width // self.heads, base=_base(settings, is_local=self.is_local))
        self.mlp_norm = layers.LayerNorm(width, eps=settings.epsilon, bias=norm)
        self.up = layers.Linear(width, 2 * inner, bias=settings.flag("mlp_bias"))
        self.down = layers.Linear(inner, width, bias=settings.flag("mlp_bias"))
        self.function = activation(settings.text("hidden_activation", "gelu"))

    def __call__(self, x: mx.array, mask: mx.array, local_mask: mx.array) -> mx.array:
        parts = mx.split(self.qkv(x if self.first else self.attn_norm(x)), 3, axis=-1)
        queries, keys, values = (mx.unflatten(part, -1, (self.heads, -1)).swapaxes(1, 2) for part in parts)
        found = attend(self.rope(queries), self.rope(keys), values, local_mask if self.is_local else mask)
        x = x + self.out(found)
        value, gate = mx.split(self.up(self.mlp_norm(x)), 2, axis=-1)
        return x + self.down(self.function(value) * gate)


class ModernBert(Part):
    """Implements Network."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        width, norm = settings.width, settings.flag("norm_bias")
        self.reach = settings.integer("local_attention", 128) // 2
        self.words = layers.Embedding(settings.integer("vocab_size"), width)
        self.norm = layers.LayerNorm(width, eps=settings.epsilon, bias=norm)
        self.layers = [Layer(settings, index) for index in range(settings.integer("num_hidden_layers"))]
        self.final_norm = layers.LayerNorm(width, eps=settings.epsilon, bias=norm)
        if settings.labels:
            function, bias = settings.text("classifier_activation", "gelu"), settings.flag("classifier_bias")
            self.head = Head(width, settings.labels, function, bias=bias, norm=(settings.epsilon, norm))

    def __call__(self, tokens: mx.array, attended: mx.array, types: mx.array) -> mx.array:
        places = mx.arange(tokens.shape[1])
        near = mx.abs(places[:, None] - places[None]) <= self.reach
        local = mx.logical_and(attended, near[None, None])
        x = self.norm(self.words(tokens))
        for layer in self.layers:
            x = layer(x, attended, local)
        return self.final_norm(x)


def _is_local(settings: Settings, index: int) -> bool:
    kinds = settings.config.get("layer_types")
    if isinstance(kinds, list):
        return cast("list[object]", kinds)[index] == "sliding_attention"
    return bool(index % settings.integer("global_attn_every_n_layers", 3))


def _base(settings: Settings, *, is_local: bool) -> float:
    """The base of the angles."""
    named = cast("dict[str, Any]", settings.config.get("rope_parameters") or {})
    own = cast("dict[str, Any]", named.get("sliding_attention" if is_local else "full_attention") or {})
    key, usual = ("local_rope_theta", 10_000.0) if is_local else ("global_rope_theta", 160_000.0)
    return float(own.get("rope_theta") or settings.config.get(key) or usual)
