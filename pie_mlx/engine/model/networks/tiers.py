"""Which architectures need another tier than the one found by tracing, and which cannot be run at all."""

import functools
from collections.abc import Sequence
from pathlib import Path

import msgspec

from pie_mlx.engine.model.networks.tier import ALONE, DENSE, PAGED, RECURRENT, Layout, Tier
from pie_mlx.errors import ModelLoadError

OVERRIDES: dict[str, Tier] = {
    "gemma2": Tier(Layout.EQUAL, False, mask_dimensions=5),
    "afm7": ALONE,
    "bailing_moe_linear": RECURRENT,  # its recurrent layers rotate by position, of a whole batch
}

REFUSED: dict[str, str] = {
    "bitnet": "without a GPU its linear layers cannot run, with one they were never compared",
    "llama4": "its chunked layers drop keys while the model does arithmetic on the cache's length",
    "phi3small": "its block-sparse attention needs one contiguous cache",
    "plamo3": "mlx-lm's mask and cache disagree about its window, so there is nothing to agree with",
}


_TABLE = Path(__file__).with_name("verified.json")


@functools.cache
def verified() -> dict[str, str]:
    """Architectures that `python -m benchmarks.architectures --write` found exact, and the tier each was found on."""
    tiers = msgspec.json.decode(_TABLE.read_bytes(), type=_Table).tiers
    return {name: tier for tier, names in tiers.items() for name in names}


class _Table(msgspec.Struct):
    """The file that the benchmark writes: architectures by tier, for one version of mlx-lm."""

    mlx_lm: str
    tiers: dict[str, list[str]]


def require_supported(architecture: str) -> None:
    """Raises ModelLoadError for an architecture known not to work."""
    if architecture in REFUSED:
        raise ModelLoadError(
            f"model: the architecture {architecture} is not supported: {REFUSED[architecture]}",
            hint="choose a model of a supported architecture (docs/reference/architectures.md)",
        )


def candidates(architecture: str, *, recurrent: bool, apart: bool) -> Sequence[Tier]:
    """Tiers to try, best first. `apart`: the states of recurrent layers are read in modules of their own."""
    if architecture in OVERRIDES:
        return [OVERRIDES[architecture]]
    first = [RECURRENT] if recurrent and not apart else [PAGED, RECURRENT] if recurrent else [PAGED]
    return [*first, DENSE, ALONE]
