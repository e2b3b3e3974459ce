"""Moves kept states of recurrent layers: out of the arrays of their batches, to the spill file, and back."""

from itertools import chain
from typing import Any

from pie_mlx.engine.kv import KeptState, KeptStates
from pie_mlx.engine.model.networks.states import RecurrentState
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.paging.spill import Spill
from pie_mlx.engine.paging.spill.state_record import StateName, packed_state, unpacked_state


class StateIO:
    """Carries out between two batches what the page store decided about states meanwhile.

    A kept state is copied to memory of its own: otherwise it would keep the arrays of its whole batch. A dropped one
    that an image wants is written to disk, if reading it is faster than computing its tokens again (R3).
    """

    def __init__(self, kept: KeptStates, runner: Runner, spill: Spill | None) -> None:
        self._kept, self._runner, self._spill = kept, runner, spill
        self._keys = 0
        self._names: dict[tuple[int, ...], StateName] = {}

    async def carry_out(self) -> None:
        """Do everything that is due."""
        for kept in self._kept.pop_added():
            state: RecurrentState | None = kept.state
            if state is not None and state.size > 1:  # it may have been dropped while another one was copied
                alone = await self._runner.call(state.alone)
                if kept.state is state:
                    kept.state = alone
        for kept, state in self._kept.pop_lost():
            if self._spill is not None:
                await self._save(self._spill, kept, state)

    def pop_released(self) -> list[int]:
        """Slots of the spill file that no state needs any more."""
        released = self._kept.pop_released()
        for slots in released:
            self._names.pop(slots, None)
        return list(chain.from_iterable(released))

    async def load(self, kept: KeptState) -> RecurrentState | None:
        """A state that is kept or was spilled. None if it is damaged, and then it is forgotten."""
        if kept.state is not None or kept.spill is None or self._spill is None:
            return kept.state
        name, record = self._names[kept.spill], await self._spill.read_record(kept.spill)
        found = unpacked_state(name, record)
        if found is None:
            self._spill.note_damaged("the state of recurrent layers, and maybe pages,")
            self._kept.forget_spill(kept)
            return None
        return await self._runner.call(lambda: RecurrentState.from_host(found, kept.tokens))

    async def _save(self, spill: Spill, kept: KeptState, state: Any) -> None:
        self._keys += 1
        name = StateName(self._runner.model.identity, kept.tokens, self._keys.to_bytes(8, "little"))
        host = await self._runner.call(state.to_host)
        record = packed_state(name, host)
        slots = tuple(spill.take_record_slots(len(record), kept.tokens))
        if slots:
            await spill.write_record(slots, record)
            self._names[slots] = name
            self._kept.mark_spilled(kept, slots)
