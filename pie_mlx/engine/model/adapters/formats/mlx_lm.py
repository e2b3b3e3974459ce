"""Adapters as mlx-lm trains them: `lora_a` [in, rank] and `lora_b` [rank, out], with one scale for all.

For experts, mlx-lm stores `lora_a` [experts, rank, in] and `lora_b` [experts, out, rank]. `rank_pattern` and
`scale_pattern` are our additions: per projection, what differs from the configuration.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.adapters.formats.base import NamedPair, checked_rank, number, require_both, table, unsupported

SIDES = ("lora_a", "lora_b")


class MlxLmFormat:
    """Implements Format."""

    def recognises(self, config: Mapping[str, Any]) -> bool:
        """Recognises it by keys that mlx-lm writes and PEFT does not."""
        return "lora_parameters" in config or "fine_tune_type" in config

    def pairs(self, config: Mapping[str, Any], tensors: Mapping[str, mx.array]) -> Sequence[NamedPair]:
        """The matrices of every projection."""
        kind = config.get("fine_tune_type", "lora")
        if kind != "lora":
            raise unsupported(f"fine_tune_type {kind}")
        parameters = table(config.get("lora_parameters"), "lora_parameters")
        ranks = table(config.get("rank_pattern", {}), "rank_pattern")
        scales = table(config.get("scale_pattern", {}), "scale_pattern")
        halves: dict[str, dict[str, mx.array]] = {}
        for path, tensor in tensors.items():
            name, _, side = path.rpartition(".")
            if side not in SIDES:
                raise unsupported(path)
            if tensor.ndim not in (2, 3):
                raise unsupported(path, f"it has {tensor.ndim} dimensions")
            halves.setdefault(name, {})[side] = tensor if tensor.ndim == 2 else tensor.swapaxes(-1, -2)
        require_both(halves, SIDES)
        pairs: list[NamedPair] = []
        for name, found in halves.items():
            down, up = found["lora_a"], found["lora_b"]
            checked_rank(name, ranks.get(name, parameters.get("rank")), down, up)
            scale = number(scales, name) if name in scales else number(parameters, "scale")
            pairs.append(NamedPair(name, down, up, scale))
        return pairs
