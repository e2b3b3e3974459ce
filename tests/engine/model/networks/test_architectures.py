"""What is known of each architecture holds for the installed mlx-lm."""

from importlib import metadata
from pathlib import Path

import msgspec
import numpy as np
import pytest

from benchmarks.architectures import TOLERANCE, compare, reference_logits
from benchmarks.driving import Driver, Work, without_files
from benchmarks.tiny_models import architectures, tiny_model
from pie_mlx.engine.model.networks import tiers
from pie_mlx.engine.model.networks.paged_network import PagedNetwork


def test_the_table_is_of_the_installed_mlx_lm() -> None:
    table = msgspec.json.decode(Path(tiers.__file__).with_name("verified.json").read_bytes())
    assert table["mlx_lm"] == metadata.version("mlx-lm")


def test_at_least_eighty_architectures_are_verified() -> None:
    assert len(tiers.verified()) >= 80
    assert not tiers.verified().keys() & tiers.REFUSED.keys()
    assert tiers.verified().keys() <= set(architectures())


@pytest.mark.parametrize("architecture", ["plamo", "kimi_linear"])
def test_an_architecture_is_exact_on_the_tier_the_table_names(architecture: str) -> None:
    verification = compare(architecture)
    assert verification.exact
    assert verification.greedy
    assert verification.tier == tiers.verified()[architecture]


@pytest.mark.parametrize("architecture", sorted(tiers.verified()))
def test_a_prompt_of_one_token_runs_beside_decodes(architecture: str) -> None:
    model = tiny_model(architecture)
    loaded = without_files(PagedNetwork(model, architecture))
    loaded.allocate(pages=12, page_size=16)
    driver = Driver(loaded)
    other, fresh = driver.context(), driver.context()
    driver.run([Work(other, [1, 2, 3, 4, 5])])
    found = driver.run([Work(other, [6]), Work(fresh, [8])])
    following = driver.run([Work(other, [7]), Work(fresh, [9])])
    expected = np.stack([reference_logits(model, tokens) for tokens in ([8], [8, 9])])
    assert np.abs(np.stack([found[1], following[1]]) - expected).max() <= TOLERANCE * np.abs(expected).max()
    assert loaded.tier == tiers.verified()[architecture]
