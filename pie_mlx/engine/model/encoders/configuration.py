"""config.json of an encoder."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pie_mlx.errors import ModelLoadError

KINDS = ("bert", "roberta", "xlm-roberta", "camembert", "modernbert")
"""Model types of encoders that are implemented here."""
MOST_LABELS = 1024
_LARGEST = 1 << 24


def is_encoder(config: Mapping[str, Any]) -> bool:
    """Whether the model reads texts and writes none."""
    return config.get("model_type") in KINDS


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked readings of a configuration. All raise ModelLoadError."""

    config: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return str(self.config["model_type"])

    @property
    def width(self) -> int:
        width = self.integer("hidden_size")
        if width % self.heads:
            raise _wrong("hidden_size", width)
        return width

    @property
    def heads(self) -> int:
        return self.integer("num_attention_heads")

    @property
    def epsilon(self) -> float:
        """The epsilon of the norms."""
        usual = 1e-5 if self.kind == "modernbert" else 1e-12
        found = self.config.get("norm_eps" if self.kind == "modernbert" else "layer_norm_eps", usual)
        if not isinstance(found, int | float):
            raise _wrong("layer_norm_eps", found)
        return float(found)

    @property
    def first_position(self) -> int:
        """RoBERTa counts positions from behind that of its padding."""
        return self.integer("pad_token_id", 1, least=0) + 1 if self.kind not in ("bert", "modernbert") else 0

    @property
    def longest(self) -> int:
        """Tokens that have a position."""
        return self.integer("max_position_embeddings") - self.first_position

    @property
    def labels(self) -> int:
        """What a head on the encoder tells apart; 0 without a head."""
        named = self.config.get("architectures")
        kinds = cast("list[object]", named) if isinstance(named, list) else []
        if not any(str(kind).endswith("ForSequenceClassification") for kind in kinds):
            return 0
        by_id = self.config.get("id2label")
        count = len(cast("dict[str, Any]", by_id)) if isinstance(by_id, dict) else self.config.get("num_labels", 2)
        if type(count) is not int or not 0 < count <= MOST_LABELS:
            raise _wrong("num_labels", count)
        return count

    @property
    def head_pooling(self) -> str:
        """Which vector of a text the head is given."""
        return self.text("classifier_pooling", "cls")

    def check(self) -> None:
        """Refuses what changes the result and is not implemented."""
        kind = self.config.get("position_embedding_type", "absolute")
        if kind not in ("absolute", None) or self.config.get("is_decoder") or self.config.get("add_cross_attention"):
            raise ModelLoadError(
                f"model: this {self.kind} has relative positions or is a decoder, which is not implemented",
                hint=f"choose an encoder with absolute positions, of {', '.join(KINDS)}",
            )
        if self.head_pooling not in ("cls", "mean"):
            raise _wrong("classifier_pooling", self.head_pooling)
        angles = cast("dict[str, object]", self.config.get("rope_parameters") or {})
        for part in angles.values():
            if isinstance(part, dict) and cast("dict[str, Any]", part).get("rope_type", "default") != "default":
                raise _wrong("rope_parameters", angles)

    def integer(self, key: str, usual: int | None = None, *, least: int = 1) -> int:
        found = self.config.get(key)
        value = usual if found is None else found
        if type(value) is not int or not least <= value <= _LARGEST:
            raise _wrong(key, value)
        return value

    def text(self, key: str, usual: str) -> str:
        found = self.config.get(key, usual)
        if not isinstance(found, str):
            raise _wrong(key, found)
        return found

    def flag(self, key: str) -> bool:
        return self.config.get(key) is True


def _wrong(key: str, value: object) -> ModelLoadError:
    return ModelLoadError(
        f"model: config.json: {key} is {str(value)[:60]!r}", hint="it belongs to other weights, or is damaged"
    )
