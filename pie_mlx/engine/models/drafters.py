"""Which models of an engine draft for others."""

from collections.abc import Mapping

from pie_mlx.engine.model_names import ModelNames
from pie_mlx.engine.models.slot import ModelSlot
from pie_mlx.errors import InvalidArgumentError


def link_drafters(slots: Mapping[str, ModelSlot], names: ModelNames) -> None:
    """Give each slot whose draft model is another one of these that slot. Raises InvalidArgumentError for models that
    would each be loaded before the other."""
    for slot in slots.values():
        called = slot.settings.draft_model or ""
        drafter = slots.get(names.aliases.get(called, called))
        if drafter is not None and drafter is not slot:
            slot.drafter = drafter
            drafter.targets.append(slot)
    for slot in slots.values():
        _check_ends(slot)


def with_drafters(slot: ModelSlot) -> list[ModelSlot]:
    """The slot, after those that draft for it, each after the one that drafts for it."""
    return [slot] if slot.drafter is None else [*with_drafters(slot.drafter), slot]


def _check_ends(slot: ModelSlot) -> None:
    seen, last = [slot.name], slot.drafter
    while last is not None:
        if last.name in seen:
            raise InvalidArgumentError(
                f"model {slot.name!r}: draft models in a circle: {', '.join([*seen, last.name])}",
                hint="leave draft_model out of the smallest one's configuration",
            )
        seen.append(last.name)
        last = last.drafter
