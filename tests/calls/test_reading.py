"""Samplers and probes check what they are given, wherever they are built."""

import math
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pie_mlx.calls import Distribution, Logprob, Logprobs, Read, Sampler
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError


@pytest.mark.parametrize("value", ["1", True, None, b"", [1]])
@pytest.mark.parametrize("field", ["temperature", "p", "min_probability", "k", "draws"])
def test_a_sampler_is_made_of_numbers(field: str, value: object) -> None:  # L2
    with pytest.raises(InvalidTypeError, match=f"sampler: {field}: got {type(value).__name__}"):
        Sampler(**{field: value})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("field", ["k", "draws", "seed"])
def test_what_a_sampler_counts_with_is_no_float(field: str) -> None:  # L2
    with pytest.raises(InvalidTypeError, match=f"sampler: {field}: got float"):
        Sampler(**{field: 1.5})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frequency": math.nan}, "frequency_penalty must lie in"),
        ({"presence": 1e9}, "presence_penalty must lie in"),
        ({"repetition": 0}, "repetition_penalty must be at least"),
        ({"bias": {5: math.inf}}, "logit_bias must lie in"),
        ({"presence": 1, "since": -1}, "since must be at least 0"),
    ],
)
def test_penalties_are_numbers_that_float32_can_compute_with(options: dict[str, Any], message: str) -> None:  # L7
    with pytest.raises(InvalidArgumentError, match=message):
        Sampler.argmax().penalized(**options)


@pytest.mark.parametrize(
    "options", [{"frequency": "1"}, {"presence": None}, {"bias": {"5": 1.0}}, {"bias": {5: "1"}}, {"since": 1.5}]
)
def test_penalties_are_made_of_numbers(options: dict[str, Any]) -> None:  # L7
    with pytest.raises(InvalidTypeError, match="sampler: "):
        Sampler.argmax().penalized(**options)


def test_every_sampler_can_be_penalized() -> None:  # L7
    sampler = Sampler.top_p(0.5, 0.8, seed=3).scored().penalized(presence=1.0)
    assert (sampler.p, sampler.seed, sampler.scores, sampler.presence_penalty) == (0.8, 3, True, 1.0)


@pytest.mark.parametrize("seed", ["", "a", True])
def test_a_seed_is_an_int(seed: Any) -> None:  # L6
    with pytest.raises(InvalidTypeError, match="sampler: seed"):
        Sampler.multinomial(1.0, seed=seed)


@pytest.mark.parametrize("build", [lambda value: Distribution(value), lambda value: Distribution(1.0, value), Logprob])
@pytest.mark.parametrize("value", ["1", True, None])
def test_a_probe_is_made_of_numbers(build: Callable[[Any], Read], value: object) -> None:  # L4
    with pytest.raises(InvalidTypeError):
        build(value)


@pytest.mark.parametrize("ids", [None, "ab", 5, [1.5], [3, None], [True]])
def test_log_probabilities_are_asked_for_a_list_of_ids(ids: Any) -> None:  # L4
    with pytest.raises(InvalidTypeError, match="Logprobs"):
        Logprobs(ids)


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**5000], ids=["above", "below", "unprintable"])
@pytest.mark.parametrize(
    "build",
    [
        lambda value: Sampler(value),
        lambda value: Sampler(k=value),
        lambda value: Sampler(draws=value),
        lambda value: Sampler(seed=value),
        lambda value: Distribution(value),
        lambda value: Distribution(1.0, value),
        Logprob,
        lambda value: Logprobs([value]),
    ],
)
def test_an_int_that_no_call_carries_is_refused(build: Callable[[Any], Read], value: int) -> None:  # L2, L4
    with pytest.raises(InvalidArgumentError, match="64 bits"):
        build(value)


@pytest.mark.parametrize("draws", [0, 2049, 2**40])
def test_draws_have_a_limit(draws: int) -> None:  # L2, L3
    assert Sampler(draws=2048).draws == 2048
    with pytest.raises(InvalidArgumentError, match=r"draws must lie in \[1, 2048\]"):
        Sampler.multinomial(1.0, draws)


@pytest.mark.parametrize("seed", [-(2**63), 0, 2**64 - 1])
def test_every_seed_of_64_bits_crosses_the_wire(seed: int) -> None:  # L6
    sampler = Sampler.multinomial(1, seed=seed)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(sampler), type=Sampler) == sampler
