"""A model that says what a script says: its pages hold the tokens themselves, so all of the engine works as with
weights."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.engine.model.adapters import AdapterBank
from pie_mlx.engine.model.memory import Transients
from pie_mlx.engine.model.mlx_lm.hook import RowSelection
from pie_mlx.engine.model.networks.script import ScriptReader
from pie_mlx.engine.model.networks.states import RecurrentState, RecurrentStates
from pie_mlx.engine.model.step import Segment, StepInput
from pie_mlx.metal import LayerShape, PageMemory, SlotWrite
from pie_mlx.metal.arrays import evaluate, from_host, integers, to_host

_WIDTH = 64
"""Elements of a key, of a size that every pool takes; the first is the token."""


class ScriptedNetwork:
    """Implements Network. Masks over slots are ignored: the script reads the whole context."""

    recurrent = False
    state_bytes = 0
    follows = False
    largest_matrix = 0
    has_experts = False
    window: int | None = None
    tier = "null"
    hidden_size = 0
    transients = Transients(0, 0, 0)
    hidden: mx.array | None = None
    attention_groups = 0
    scores: Mapping[int, mx.array] = MappingProxyType({})
    kept: mx.array | None = None

    def __init__(self, reader: ScriptReader) -> None:
        self.vocabulary_size = len(reader.pieces)
        self.shapes: Sequence[LayerShape] = (LayerShape(1, _WIDTH, _WIDTH),)
        self.adapters = AdapterBank(dict, RowSelection())
        self.recurrence = RecurrentStates(())
        self.reader = reader

    def forward(self, step: StepInput, memory: PageMemory) -> mx.array:
        """Logits [R, vocabulary] float32. Raises RuntimeError, as a device does, for what the script raises."""
        pool, tokens = memory.pool, step.tokens
        drawn = tokens if isinstance(tokens, mx.array) else integers(tokens)
        write = SlotWrite(step.slots)
        keys = mx.broadcast_to(drawn.astype(mx.float32)[:, None, None], (len(step.slots), 1, _WIDTH))
        pool.begin_write(write)
        pool.write(0, keys, keys, write)
        if not len(step.logit_rows):
            return mx.zeros((0, self.vocabulary_size), mx.float32)
        histories = [self._history(step, row, memory) for row in step.logit_rows]
        try:
            return from_host(np.stack([self.reader.logits(history) for history in histories]))
        except Exception as error:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error

    def _history(self, step: StepInput, row: int, memory: PageMemory) -> npt.NDArray[np.int64]:
        """The tokens of a context up to a row."""
        segment = next(one for one in step.segments if one.start <= row < one.start + one.count)
        keys, _ = memory.pool.rows(0, integers(_slots(segment, row, memory.pool.page_size)))
        evaluate(keys)
        return to_host(keys)[:, 0, 0].astype(np.int64)

    def forget(self) -> None:
        """Nothing is kept."""

    def recover(self) -> None:
        """Nothing is kept."""

    def state(self, context: int) -> RecurrentState | None:
        """Nothing is kept."""

    def stateful(self) -> Collection[int]:
        """None: nothing is kept."""
        return ()

    def set_state(self, context: int, state: RecurrentState | None) -> None:
        """Nothing is kept."""


def _slots(segment: Segment, row: int, page_size: int) -> list[int]:
    """The slots of the tokens of a context, up to a row."""
    length = segment.kv_length - segment.count + row - segment.start + 1
    return [segment.block_table[slot // page_size] * page_size + slot % page_size for slot in range(length)]
