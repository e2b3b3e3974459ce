"""What the engine does for most models, and why not for some. Errors, `pie model show` and the documents agree."""

from dataclasses import dataclass, fields

from pie_mlx.engine.model.networks.tier import TIERS, Layout

_WITHIN_OTHERS = "has recurrent layers that are part of others, which see whole rows"
_GATHERED = "computes with keys and values as arrays, which are gathered for rows of one length"


@dataclass(frozen=True, slots=True)
class Promises:
    """Each is "" if the engine keeps it for a model, otherwise why not, as what a sentence about the model says of it.

    `draft`: guessed tokens are verified in one pass. `ragged`: inputs of unequal length are one pass.
    """

    draft: str = ""
    ragged: str = ""

    def lacking(self) -> dict[str, str]:
        """The promises that are not kept, and why."""
        return {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name)}


def promises(tier: str, *, recurrent: bool) -> Promises:
    """What the engine does for a model on the tier of this name, which may have recurrent layers."""
    known = TIERS.get(tier)
    if known is None or known.layout is Layout.TOKENS:
        return Promises()
    return Promises(draft=_WITHIN_OTHERS if recurrent else "", ragged=_WITHIN_OTHERS if known.paged else _GATHERED)
