"""What is made of the weights of exported models."""

from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.utils import load_model

from tools.tiny.average import average
from tools.tiny.evaluate import SHIPPED
from tools.tiny.grow import grow, origins
from tools.tiny.weights import load_weights, save_weights

TOKENS = mx.array([[5, 90, 301, 17, 802, 4]])


def logits(folder: Path) -> mx.array:
    model: Any = load_model(folder)[0]
    return model(TOKENS)


def test_a_grown_model_computes_what_it_did(tmp_path: Path) -> None:
    layers = load_model(SHIPPED)[1]["num_hidden_layers"] + 2
    grow(SHIPPED, layers, tmp_path / "grown")
    assert load_model(tmp_path / "grown")[1]["num_hidden_layers"] == layers
    assert mx.array_equal(logits(tmp_path / "grown"), logits(SHIPPED))


@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 3), (4, 5), (5, 7), (5, 8), (5, 9)])
def test_new_layers_lie_after_those_they_copy(before: int, after: int) -> None:
    plan = origins(before, after)
    assert len(plan) == after
    assert [old for old, new in plan if not new] == list(range(before))
    assert all(plan[place - 1] == (old, False) for place, (old, new) in enumerate(plan) if new)


@pytest.mark.parametrize("after", [4, 10])
def test_no_layer_is_taken_away_and_none_follows_the_last(after: int) -> None:
    with pytest.raises(ValueError, match=r"5\.\.9"):
        origins(5, after)


def test_the_mean_lies_between(tmp_path: Path) -> None:
    other = tmp_path / "other"
    grow(SHIPPED, load_model(SHIPPED)[1]["num_hidden_layers"], other)  # a copy
    save_weights({name: value * 3 for name, value in load_weights(SHIPPED).items()}, other)
    average(SHIPPED, other, tmp_path / "mean")
    found, first = load_weights(tmp_path / "mean"), load_weights(SHIPPED)
    assert all(mx.allclose(found[name], first[name] * 2, rtol=1e-3) for name in first)
    assert {name: value.dtype for name, value in found.items()} == {name: value.dtype for name, value in first.items()}
