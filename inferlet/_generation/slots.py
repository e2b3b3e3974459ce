"""The slots of a pass under construction."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from inferlet.output import Handle
from pie_mlx.calls import Probe, Sampler, Slot


@dataclass(slots=True)
class PassSlots:
    """Slots in order of attachment, and for each handle the range of slots it names (F6)."""

    slots: list[Slot] = field(default_factory=list[Slot])
    spans: dict[Handle, range] = field(default_factory=dict[Handle, range])

    def attach(self, handle: Handle, indices: Sequence[int], read: Sampler | Probe) -> None:
        """Add one slot per index."""
        first = len(self.slots)
        self.slots += [Slot(index, read) for index in indices]
        self.spans[handle] = range(first, len(self.slots))
        handle.slot, handle.arity = first, len(indices)
