"""Projects only the rows whose logits are needed."""

from typing import Any

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.modules import LINEAR, Module


class RowSelection:
    """The rows of the current forward pass whose logits are needed: flat indices over [rows, tokens].

    `hidden` [selected, 1, width] is the head's latest input for them.
    """

    def __init__(self) -> None:
        self.rows: mx.array | None = None
        self.hidden: mx.array | None = None

    @property
    def width(self) -> int:
        """The width of the head's latest input, 0 before the first."""
        return 0 if self.hidden is None else int(self.hidden.shape[-1])

    def select(self, hidden: mx.array) -> mx.array:
        """[rows, tokens, width] as [selected, 1, width]."""
        if self.rows is None:
            return hidden
        self.hidden = hidden.flatten(0, 1)[self.rows][:, None]
        return self.hidden


def select_before_head(model: Module, vocabulary_size: int, selection: RowSelection) -> list[Module]:
    """Makes the modules that may be the output head select rows first. Returns them, for `restore`.

    A head is a projection to the vocabulary outside the layers, or an embedding used as one. Its class is replaced by a
    subclass, so that parameter names stay the same.
    """
    heads: list[Module] = []
    for path, module in model.named_modules():
        if any(part.isdigit() for part in path.split(".")):
            continue
        if hasattr(module, "as_linear"):
            _override(module, "as_linear", selection)
        elif path and _output_size(module) == vocabulary_size:
            _override(module, "__call__", selection)
        else:
            continue
        heads.append(module)
    return heads


def restore(heads: list[Module]) -> None:
    """Reverses `select_before_head`."""
    for module in heads:
        module.__class__ = type(module).__mro__[1]


def _output_size(module: Any) -> int | None:
    if not isinstance(module, LINEAR):
        return None
    return int(module.weight.shape[0])


def _override(module: Module, method: str, selection: RowSelection) -> None:
    original = type(module)
    project = getattr(original, method)

    def selected(self: Module, hidden: mx.array) -> mx.array:
        return project(self, selection.select(hidden))

    module.__class__ = type(original.__name__, (original,), {method: selected})
