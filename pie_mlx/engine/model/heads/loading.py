"""The draft head beside a loaded model: a network of its own, over pages of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.heads.families import FAMILIES
from pie_mlx.engine.model.heads.module import FusedEmbedding, build_head
from pie_mlx.engine.model.heads.tensors import find_head, head_files
from pie_mlx.engine.model.mlx_lm import hook
from pie_mlx.engine.model.mlx_lm.modules import Module
from pie_mlx.engine.model.mlx_lm.weights import DTYPES, retyped, weight_bytes
from pie_mlx.engine.model.networks.paged_network import PagedNetwork
from pie_mlx.errors import ModelLoadError
from pie_mlx.metal.arrays import evaluate


@dataclass(frozen=True, slots=True)
class HeadNetwork:
    """The network of a head, what hidden states are given to, and the bytes of weights that are its own."""

    network: PagedNetwork
    embedding: FusedEmbedding
    weight_bytes: int


def load_head(
    directory: Path,
    files: Sequence[Path],
    trunk: Module,
    config: Mapping[str, Any],
    architecture: str,
    dtype: mx.Dtype,
    report: Callable[[str], None],
    *,
    lazy: bool = False,
) -> HeadNetwork | None:
    """The draft head of the model in `directory`, computed with in `dtype`; None where there is none. `lazy` leaves its
    weights on disk.

    Call it before a network is made of the `trunk`. Raises ModelLoadError for a head that cannot be used.
    """
    family = FAMILIES.get(architecture)
    tensors = family and find_head(head_files(directory, files), family, _layers(config))
    if family is None or tensors is None:
        return None
    try:
        model, embedding = build_head(trunk, config, family, tensors)
        own = weight_bytes(model)
        name = next(name for name, known in DTYPES.items() if known == dtype)
        retyped(model, name, report)
        if not lazy:
            evaluate(model.parameters())
        hook.install()
        network = PagedNetwork(model, architecture)
    except ModelLoadError:
        raise
    except Exception as error:  # mlx-lm raises many kinds for tensors that do not fit
        raise ModelLoadError(
            f"draft head: it cannot be built: {type(error).__name__}: {' '.join(str(error).split())[:300]}",
            hint="fetch the model again, or set draft_head = false",
        ) from error
    if not network.follows or not network.hidden_size:
        raise ModelLoadError(f"draft head: {architecture} computes it as {network.tier}", hint="set draft_head = false")
    return HeadNetwork(network, embedding, own)


def _layers(config: Mapping[str, Any]) -> int:
    nested = cast("Mapping[str, Any]", config.get("text_config") or {})
    return int(nested.get("num_hidden_layers", config.get("num_hidden_layers", 0)))
