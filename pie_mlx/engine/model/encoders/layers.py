"""What all encoders are made of."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

import mlx.core as mx
from mlx import nn  # pyright: ignore[reportMissingTypeStubs]

from pie_mlx.errors import ModelLoadError

layers = cast("Any", nn)
"""mlx.nn, which carries no types."""

if TYPE_CHECKING:

    class Part:
        """A part of a network; its attributes are parameters and further parts."""

        def __contains__(self, name: str) -> bool: ...
else:
    Part = layers.Module

_ACTIVATIONS: dict[str, Callable[[mx.array], mx.array]] = {
    "gelu": layers.gelu,
    "gelu_new": layers.gelu_approx,
    "gelu_pytorch_tanh": layers.gelu_approx,
    "relu": layers.relu,
    "silu": layers.silu,
    "tanh": mx.tanh,
}


class Network(Protocol):
    """Hidden states [B, L, width] of tokens [B, L] int32. `attended` [B, 1, 1, L] bool tells which are no padding,
    `types` [B, L] int32 to which of two texts each belongs."""

    head: Any

    def __call__(self, tokens: mx.array, attended: mx.array, types: mx.array) -> mx.array: ...
    def named_modules(self) -> list[tuple[str, Any]]: ...
    def parameters(self) -> dict[str, Any]: ...
    def update(self, parameters: dict[str, Any]) -> Any: ...
    def load_weights(self, weights: list[tuple[str, mx.array]]) -> Any: ...


def activation(name: str) -> Callable[[mx.array], mx.array]:
    """The function of this name in configurations. Raises ModelLoadError."""
    found = _ACTIVATIONS.get(name)
    if found is None:
        raise ModelLoadError(
            f"model: the activation {name!r} is unknown", hint=f"known ones: {', '.join(_ACTIVATIONS)}"
        )
    return found


def attention(queries: mx.array, keys: mx.array, values: mx.array, heads: int, mask: mx.array) -> mx.array:
    """Attention of arrays [B, L, width], in `heads` parts."""
    queries, keys, values = (mx.unflatten(each, -1, (heads, -1)).swapaxes(1, 2) for each in (queries, keys, values))
    return attend(queries, keys, values, mask)


def attend(queries: mx.array, keys: mx.array, values: mx.array, mask: mx.array) -> mx.array:
    """Attention of arrays [B, heads, L, size], as [B, L, width]."""
    out = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=queries.shape[-1] ** -0.5, mask=mask)
    return out.swapaxes(1, 2).flatten(2)


class Head(Part):
    """Scores [B, labels] of vectors [B, width]: what `*ForSequenceClassification` puts on an encoder."""

    def __init__(
        self, width: int, labels: int, function: str, *, bias: bool = True, norm: tuple[float, bool] | None = None
    ) -> None:
        """`norm` is the epsilon of a norm behind the first matrix, and whether it has a bias."""
        super().__init__()
        self.dense = layers.Linear(width, width, bias=bias)
        self.function = activation(function)
        if norm is not None:
            self.norm = layers.LayerNorm(width, eps=norm[0], bias=norm[1])
        self.out = layers.Linear(width, labels)

    def __call__(self, vectors: mx.array) -> mx.array:
        found = self.function(self.dense(vectors))
        return self.out(self.norm(found) if "norm" in self else found)
