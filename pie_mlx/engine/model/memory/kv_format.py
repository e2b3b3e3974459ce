"""Which layers keep their keys and values in 8 or 4 bits."""

from collections.abc import Sequence
from dataclasses import replace

from pie_mlx.engine.settings import KvFormat
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal import LayerShape, Quantisation

BITS = {"int8": 8, "int4": 4}
GROUP_SIZES = (64, 32)
"""Elements that share a scale, the first choice first: larger groups take less memory and cost hardly any accuracy."""


def with_format(shapes: Sequence[LayerShape], kv: KvFormat, model: str) -> list[LayerShape]:
    """The layers of a model with pages in this format.

    Raises InvalidArgumentError for a format that there is not, heads that its groups do not divide, and layers that the
    model does not have.
    """
    if kv.dtype == "auto":
        return list(shapes)
    if kv.dtype not in BITS:
        raise InvalidArgumentError(f"KV pages of {kv.dtype!r}: no such format", hint="use auto, int8 or int4")
    attentive = [place for place, shape in enumerate(shapes) if shape.elements]
    full = {attentive[layer] for layer in _checked(kv.full_layers, len(attentive), model)}
    quantised = [place for place in attentive if place not in full]
    sizes = {size for place in quantised for size in (shapes[place].key_dim, shapes[place].value_dim)}
    kind = Quantisation(BITS[kv.dtype], kv.group_size or _group_size(sizes))
    for size in sorted(sizes):
        kind.check(f"{model}: KV pages in {kv.dtype}", size)
    return [replace(shape, quantisation=kind) if place in quantised else shape for place, shape in enumerate(shapes)]


def _checked(layers: Sequence[int], count: int, model: str) -> Sequence[int]:
    for layer in layers:
        if not -count <= layer < count:
            raise InvalidArgumentError(
                f"{model}: no layer {layer} to keep in full precision, {count} layers have keys and values",
                hint=f"use 0 to {count - 1}, or -1 for the last",
            )
    return layers


def _group_size(sizes: set[int]) -> int:
    dividing = [group for group in GROUP_SIZES if all(size % group == 0 for size in sizes)]
    return dividing[0] if dividing else GROUP_SIZES[-1]
