"""A device without weights: every path of the engine runs on it, nothing is computed."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import mlx.core as mx

from pie_mlx.engine.model.adapters import AdapterBank
from pie_mlx.engine.model.memory import Transients
from pie_mlx.engine.model.mlx_lm.hook import RowSelection
from pie_mlx.engine.model.networks.states import RecurrentState, RecurrentStates
from pie_mlx.engine.model.step import StepInput
from pie_mlx.metal import LayerShape, PageMemory
from pie_mlx.metal.arrays import integers


class NullNetwork:
    """Implements Network: logits are a hash of (token, position, vocabulary entry), so batches do not matter."""

    recurrent = False
    state_bytes = 0
    follows = True
    largest_matrix = 0
    has_experts = False
    window: int | None = None
    tier = "null"
    hidden_size = 16
    attention_groups = 0
    scores: Mapping[int, mx.array] = MappingProxyType({})
    transients = Transients(0, 0, 0)

    def __init__(self, vocabulary_size: int) -> None:
        self.vocabulary_size = vocabulary_size
        self.shapes: Sequence[LayerShape] = ()
        self.adapters = AdapterBank(dict, RowSelection())
        self.hidden: mx.array | None = None
        self.kept: mx.array | None = None
        self.recurrence = RecurrentStates(())

    def forward(self, step: StepInput, memory: PageMemory) -> mx.array:
        """Logits [R, vocabulary] float32 in [-8, 8)."""
        keys = self._keys(step)
        self.hidden = _hashed(keys, self.hidden_size)
        return _hashed(keys, self.vocabulary_size)

    def _keys(self, step: StepInput) -> mx.array:
        rows, tokens = integers(step.logit_rows), step.tokens
        drawn = tokens if isinstance(tokens, mx.array) else integers(tokens)
        taken = drawn[rows].astype(mx.uint32), integers(step.positions)[rows].astype(mx.uint32)
        return taken[0] * mx.array(0x9E3779B1, mx.uint32) + taken[1] * mx.array(0x85EBCA77, mx.uint32)

    def forget(self) -> None:
        """Nothing to let go of."""
        self.hidden = None

    def recover(self) -> None:
        """Nothing is kept."""

    def state(self, context: int) -> RecurrentState | None:
        """Nothing is kept."""

    def stateful(self) -> Collection[int]:
        """None: nothing is kept."""
        return ()

    def set_state(self, context: int, state: RecurrentState | None) -> None:
        """Nothing is kept."""


def _hashed(keys: mx.array, width: int) -> mx.array:
    entries = mx.arange(width, dtype=mx.uint32) * mx.array(0xC2B2AE3D, mx.uint32)
    return _mix(keys[:, None] ^ entries[None]).astype(mx.float32) * (16 / 2**32) - 8


def _mix(value: mx.array) -> mx.array:
    """The finaliser of MurmurHash3 (Appleby): a bijection of 32-bit integers that avalanches."""
    value = (value ^ (value >> 16)) * mx.array(0x85EBCA6B, mx.uint32)
    value = (value ^ (value >> 13)) * mx.array(0xC2B2AE35, mx.uint32)
    return value ^ (value >> 16)
