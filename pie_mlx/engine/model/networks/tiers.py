"""Which tiers an architecture may have, and which architectures cannot be run at all."""

import functools
from collections.abc import Sequence
from pathlib import Path

import msgspec

from pie_mlx.engine.model.networks.promises import Promises, promises
from pie_mlx.engine.model.networks.tier import ALONE, DENSE, LATENT, PAGED, RECURRENT, Tier
from pie_mlx.errors import ModelLoadError

LATENTS = frozenset(
    (
        "bailing_hybrid",
        "bailing_moe_v3",
        "deepseek_v3",
        "glm4_moe_lite",
        "kimi_k25",
        "kimi_linear",
        "kimi_vl",
        "longcat_flash",
        "longcat_flash_ngram",
        "mistral4",
    )
)
"""Architectures whose layers attend to one latent per token, of which the pages hold it.

Listed, because others can be traced with such pages and compute something else: sparse attention would be bypassed.
"""

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
    return {name: tier for tier, names in _table().tiers.items() for name in names}


def promised(architecture: str) -> Promises | None:
    """What the engine does for models of a verified architecture."""
    tier = verified().get(architecture)
    return None if tier is None else promises(tier, recurrent=architecture in _table().recurrent)


class _Table(msgspec.Struct):
    """The file that the benchmark writes: architectures by tier, and which have recurrent layers, for one version of
    mlx-lm."""

    mlx_lm: str
    recurrent: list[str]
    tiers: dict[str, list[str]]


@functools.cache
def _table() -> _Table:
    return msgspec.json.decode(_TABLE.read_bytes(), type=_Table)


def require_supported(architecture: str) -> None:
    """Raises ModelLoadError for an architecture known not to work."""
    if architecture in REFUSED:
        raise ModelLoadError(
            f"model: the architecture {architecture} is not supported: {REFUSED[architecture]}",
            hint="choose a model of a supported architecture (docs/reference/architectures.md)",
        )


def by_token(architecture: str, *, latent: bool) -> Tier:
    """The tier in which every token is a row; `latent` allows pages of latents."""
    return LATENT if latent and architecture in LATENTS else PAGED


def candidates(by_token: Tier, *, recurrent: bool, apart: bool) -> Sequence[Tier]:
    """Tiers to try, best first. `apart`: the states of recurrent layers are read in modules of their own."""
    first = [RECURRENT] if recurrent and not apart else [by_token, RECURRENT] if recurrent else [by_token]
    return [*first, DENSE, ALONE]
