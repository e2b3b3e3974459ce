"""Adapters as PEFT trains them: `lora_A` [rank, in] and `lora_B` [out, rank], scaled by alpha / r (A2)."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.adapters.formats.base import NamedPair, checked_rank, number, require_both, table, unsupported

SIDES = ("lora_A", "lora_B")
_PREFIX = "base_model.model."
_NAME = re.compile(r"(?P<name>.+)\.(?P<side>lora_[AB])(\.default)?\.weight")
_EXPERT = re.compile(r"(?P<block>.+)\.experts\.(?P<expert>\d+)\.(?P<part>\w+)")
_EXPRESSION = frozenset("\\^$*+?{}[]|()")
_STACKED = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}
"""mlx-lm's names for Mixtral's projections. Other families use the same names in both."""

_REFUSED = {
    "use_dora": "DoRA",
    "modules_to_save": "modules_to_save",
    "lora_bias": "lora_bias",
    "target_parameters": "target_parameters",
    "trainable_token_indices": "trainable_token_indices",
    "layer_replication": "layer_replication",
    "use_qalora": "QALoRA",
    "alora_invocation_tokens": "aLoRA",
}
"""Keys that, if set, require more than two matrices per projection."""

_CHANGED_BASE = ("pissa", "olora", "corda", "loftq")
"""Initialisations that change the base weights, so that the pairs do not fit the original ones. If PEFT converted an
adapter to plain pairs, it wrote `true` instead."""


class PeftFormat:
    """Implements Format."""

    def recognises(self, config: Mapping[str, Any]) -> bool:
        """Recognises it by the key that every PEFT configuration has."""
        return "peft_type" in config

    def pairs(self, config: Mapping[str, Any], tensors: Mapping[str, mx.array]) -> Sequence[NamedPair]:
        """The matrices of every projection. Those of single experts are stacked as in mlx-lm."""
        _check(config)
        halves: dict[str, dict[str, mx.array]] = {}
        for path, tensor in tensors.items():
            match = _NAME.fullmatch(path.removeprefix(_PREFIX))
            if match is None:
                raise unsupported(path)
            if tensor.ndim != 2:
                raise unsupported(path, f"it has {tensor.ndim} dimensions")
            halves.setdefault(match["name"], {})[match["side"]] = tensor.T
        require_both(halves, SIDES)
        return _stacked([self._pair(name, found, config) for name, found in halves.items()])

    def _pair(self, name: str, found: Mapping[str, mx.array], config: Mapping[str, Any]) -> NamedPair:
        down, up = found["lora_A"], found["lora_B"]
        configured = _own(config, "rank_pattern", name, config.get("r"))
        rank = checked_rank(name, configured, down, up)
        alpha = number({"lora_alpha": _own(config, "alpha_pattern", name, config.get("lora_alpha"))}, "lora_alpha")
        return NamedPair(name, down, up, alpha / (math.sqrt(rank) if config.get("use_rslora") else rank))


def _check(config: Mapping[str, Any]) -> None:
    if config["peft_type"] != "LORA":
        raise unsupported(f"peft_type {config['peft_type']}")
    for key, part in _REFUSED.items():
        if config.get(key):
            raise unsupported(part)
    start = config.get("init_lora_weights")
    if isinstance(start, str) and start.lower().startswith(_CHANGED_BASE):
        raise unsupported(f"init_lora_weights {start}", "its pairs belong to base weights that it changed")
    if config.get("bias", "none") != "none":
        raise unsupported(f"bias {config['bias']}")


def _own(config: Mapping[str, Any], key: str, name: str, default: Any) -> Any:
    """The value that a pattern gives for a projection, by the end of its name."""
    for ending, value in table(config.get(key) or {}, key).items():
        if _EXPRESSION.intersection(ending):
            raise unsupported(f"{key} {ending}", "regular expressions are not supported, only ends of names")
        if name == ending or name.endswith(f".{ending}"):
            return value
    return default


def _stacked(pairs: Sequence[NamedPair]) -> list[NamedPair]:
    """Joins the pairs of single experts into one pair per layer."""
    whole: list[NamedPair] = []
    experts: dict[str, dict[int, NamedPair]] = {}
    for pair in pairs:
        match = _EXPERT.fullmatch(pair.name)
        if match is None:
            whole.append(pair)
        else:
            name = f"{match['block']}.switch_mlp.{_STACKED.get(match['part'], match['part'])}"
            experts.setdefault(name, {})[int(match["expert"])] = pair
    return whole + [_joined(name, members) for name, members in experts.items()]


def _joined(name: str, members: Mapping[int, NamedPair]) -> NamedPair:
    missing = sorted(set(range(max(members) + 1)) - members.keys())
    if missing:
        raise unsupported(f"{name}: experts {', '.join(map(str, missing))}", "they are missing")
    ordered = [members[expert] for expert in range(len(members))]
    first = ordered[0]
    looks = {(tuple(pair.down.shape), tuple(pair.up.shape), pair.scale) for pair in ordered}
    if len(looks) > 1:
        raise unsupported(name, "its experts differ in rank, shape or scale")
    return NamedPair(name, mx.stack([p.down for p in ordered]), mx.stack([p.up for p in ordered]), first.scale)
