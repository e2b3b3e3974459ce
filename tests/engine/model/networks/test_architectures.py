"""What is known of each architecture holds for the installed mlx-lm."""

from importlib import metadata
from pathlib import Path

import msgspec
import pytest

from benchmarks.architectures import compare
from benchmarks.tiny_models import architectures
from pie_mlx.engine.model.networks import tiers


def test_the_table_is_of_the_installed_mlx_lm() -> None:
    table = msgspec.json.decode(Path(tiers.__file__).with_name("verified.json").read_bytes())
    assert table["mlx_lm"] == metadata.version("mlx-lm")


def test_at_least_eighty_architectures_are_verified() -> None:
    assert len(tiers.verified()) >= 80
    assert not tiers.verified().keys() & tiers.REFUSED.keys()
    assert tiers.verified().keys() <= set(architectures())


@pytest.mark.parametrize("architecture", ["gemma2", "gpt_bigcode", "gemma3n", "recurrent_gemma", "mimo_v2_flash"])
def test_an_architecture_is_exact_on_the_tier_the_table_names(architecture: str) -> None:
    verification = compare(architecture)
    assert verification.exact
    assert verification.greedy
    assert verification.tier == tiers.verified()[architecture]
