"""A draft head as a model of mlx-lm: the family's own model of the head's layers, which reads hidden states as well."""

from collections.abc import Mapping
from copy import copy
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.heads.families import HeadFamily
from pie_mlx.engine.model.heads.tensors import HeadTensors
from pie_mlx.engine.model.mlx_lm.modules import Module, model_of, neural, parameters_of
from pie_mlx.errors import ModelLoadError


class FusedEmbedding(neural.Module):
    """Takes the place of an embedding: token t + 1 and the hidden state at t, `given` [rows, 1, width], as one.

    The embedding itself, and the head where it is one, are the model's.
    """

    def __init__(self, shared: Any, width: int, epsilon: float, *, hidden_first: bool) -> None:
        neural.Module.__init__(self)
        self.embedding_norm, self.hidden_norm = neural.RMSNorm(width, epsilon), neural.RMSNorm(width, epsilon)
        self.projection = neural.Linear(2 * width, width, bias=False)
        self._order = -1 if hidden_first else 1
        # No part of the head: neither its parameters nor its modules may have it twice.
        object.__setattr__(self, "shared", shared)
        self.give(None)

    def give(self, hidden: mx.array | None) -> None:
        """The hidden states that the next call reads; zeros for None."""
        object.__setattr__(self, "given", hidden)

    def __call__(self, tokens: mx.array) -> mx.array:
        own = cast("Any", self)
        embedded = own.shared(tokens)
        hidden = mx.zeros_like(embedded) if own.given is None else own.given.astype(embedded.dtype)
        parts = [own.embedding_norm(embedded), own.hidden_norm(hidden)][:: own._order]
        return own.projection(mx.concatenate(parts, axis=-1))

    def as_linear(self, hidden: mx.array) -> mx.array:
        """Logits of a model whose embedding is its head."""
        return cast("Any", self).shared.as_linear(hidden)


def build_head(
    trunk: Module, config: Mapping[str, Any], family: HeadFamily, tensors: HeadTensors
) -> tuple[Module, FusedEmbedding]:
    """The head beside its `trunk`, whose embedding and vocabulary projection it shares, and what is given to it.

    Nothing is read yet. Raises ModelLoadError for tensors that do not fit.
    """
    model, outer = model_of(head_settings(config, family)), _innermost(trunk)
    inner = _innermost(model)
    part, source = getattr(inner, family.trunk), getattr(outer, family.trunk)
    name = "embed_tokens" if hasattr(source, "embed_tokens") else "embeddings"
    shared, norm = getattr(source, name), getattr(source, family.final.partition(".")[0])
    width, epsilon = int(norm.weight.shape[0]), float(norm.eps)
    fused = FusedEmbedding(shared, width, epsilon, hidden_first=family.hidden_first)
    setattr(part, name, fused)
    if hasattr(part, "ssm_idx"):
        part.ssm_idx = 0  # a head has no recurrent layer, whose cache it would name
    if hasattr(outer, "lm_head"):
        inner.lm_head = copy(outer.lm_head)
    elif hasattr(inner, "lm_head"):
        del inner.lm_head
    _load(model, fused, config, tensors, f"{family.trunk}.{name}.")
    return model, fused


def _load(model: Any, fused: FusedEmbedding, config: Mapping[str, Any], tensors: HeadTensors, embedding: str) -> None:
    found = cast("dict[str, mx.array]", model.sanitize(dict(tensors.layers)))
    owned = {name for name, _ in parameters_of(model) if "lm_head." not in name and embedding not in name}
    parts = [name for name in found if name in owned or name.endswith((".scales", ".biases"))]
    found = {name: found[name] for name in parts}
    given = {f"projection.{name}": array for name, array in tensors.projection.items()}
    given |= {"embedding_norm.weight": tensors.embedding_norm, "hidden_norm.weight": tensors.hidden_norm}
    _quantise(model, found, config)
    _quantise(fused, given, config)
    if lacking := sorted(owned - found.keys()):
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        raise ModelLoadError(
            f"draft head: it lacks {', '.join(lacking[:3])}{more}",
            hint="fetch the model again, or set draft_head = false",
        )
    model.load_weights(list(found.items()), strict=False)
    cast("Any", fused).load_weights(list(given.items()))


def _quantise(model: Any, found: Mapping[str, mx.array], config: Mapping[str, Any]) -> None:
    """Make quantised layers of those whose tensors are."""
    quantisation = config.get("quantization") or config.get("quantization_config")
    if quantisation and any(name.endswith(".scales") for name in found):

        def is_quantised(path: str, module: object) -> bool:
            return f"{path}.scales" in found and hasattr(module, "to_quantized")

        neural.quantize(
            model,
            group_size=quantisation["group_size"],
            bits=quantisation["bits"],
            mode=quantisation.get("mode", "affine"),
            class_predicate=is_quantised,
        )


def head_settings(config: Mapping[str, Any], family: HeadFamily) -> dict[str, Any]:
    """The configuration of a model that is the head's layers alone."""
    nested = config.get("text_config")
    if isinstance(nested, Mapping):
        inner = cast("Mapping[str, Any]", nested)
        return {**config, "text_config": {**inner, **family.settings(inner)}}
    return {**config, **family.settings(config)}


def _innermost(model: Any) -> Any:
    """The language model of a model."""
    return getattr(model, "language_model", model)
