"""Rows of one forward pass, each with its own adapter."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.tuner.lora import LoRALinear, LoRASwitchLinear

from pie_mlx.engine.model.adapters import AdapterContent, LowRank
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.mlx_lm.modules import SWITCH
from tests.engine.model.adapters.networks import NONE, Use, loaded, prefill, prompt, random_content, with_adapters

TOLERANCE = 1e-4
ARCHITECTURES = ["llama", "qwen3_moe", "gpt_oss", "deepseek_v3", "qwen3_next", "gemma3_text"]


@pytest.fixture(scope="module")
def llama() -> LoadedModel:
    return with_adapters(loaded("llama"), 8)


def use(number: int) -> Use:
    return (number, 1, 0) if number else NONE


def error(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_batch_of_eight_adapters_equals_the_eight_solo_runs(architecture: str) -> None:  # A2, T39
    model = with_adapters(loaded(architecture), 8)
    prompts = [prompt(number, 5) for number in range(9)]
    together = prefill(model, prompts, [use(number) for number in range(9)])
    for number in range(9):
        alone = prefill(model, [prompts[number]], [use(number)] if number else None)
        assert error(together[number], alone[0]) < TOLERANCE
    plain = prefill(model, prompts, None)
    assert all(error(together[number], plain[number]) > 1e-3 for number in range(1, 9))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_rows_without_an_adapter_keep_their_bits(architecture: str) -> None:  # A2
    model = with_adapters(loaded(architecture), 3)
    prompts = [prompt(number, 4 + number % 2) for number in range(8)]
    uses = [use(number % 4) for number in range(8)]
    mixed, plain = prefill(model, prompts, uses), prefill(model, prompts, None)
    for row, chosen in enumerate(uses):
        assert (mixed[row].tobytes() == plain[row].tobytes()) is (chosen == NONE)


def test_a_pass_without_adapters_after_one_with_them_is_as_before(llama: LoadedModel) -> None:
    before = prefill(llama, [prompt(1, 9)], None)
    prefill(llama, [prompt(1, 9)], [use(1)])
    assert prefill(llama, [prompt(1, 9)], None).tobytes() == before.tobytes()


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(1, 12)), min_size=1, max_size=6))
def test_company_does_not_matter(llama: LoadedModel, rows: list[tuple[int, int]]) -> None:  # Q10
    prompts = [prompt(place, length) for place, (_, length) in enumerate(rows)]
    together = prefill(llama, prompts, [use(number) for number, _ in rows])
    for place, (number, _) in enumerate(rows):
        assert error(together[place], prefill(llama, [prompts[place]], [use(number)])[0]) < TOLERANCE


def test_many_tokens_are_sorted_by_expert_and_still_have_their_own_adapter() -> None:  # A2
    model = with_adapters(loaded("qwen3_moe"), 2)
    prompts = [prompt(number, 40) for number in range(3)]
    together = prefill(model, prompts, [use(number) for number in range(3)])
    for number in range(3):
        assert error(together[number], prefill(model, [prompts[number]], [use(number)])[0]) < TOLERANCE


@pytest.mark.parametrize("bits", [4, 8])
def test_adapters_add_to_quantised_weights(bits: int) -> None:  # A2
    model = with_adapters(loaded("llama", bits=bits), 2)
    together = prefill(model, [prompt(1, 5)] * 3, [use(0), use(1), use(2)])
    assert error(together[1], together[0]) > 1e-3
    assert error(together[1], prefill(model, [prompt(1, 5)], [use(1)])[0]) < TOLERANCE


@pytest.mark.parametrize("architecture", ["llama", "qwen3_moe"])
def test_additions_are_those_of_mlx_lm(architecture: str) -> None:  # A2
    model = with_adapters(loaded(architecture), 1)
    found = prefill(model, [prompt(5, 20)], [use(1)])
    content = model.adapters.get((1, 1))
    peer = loaded(architecture)
    _apply_as_mlx_lm(peer, content)
    expected = prefill(peer, [prompt(5, 20)], None)  # all rows: the head is another module now
    assert error(found, expected[-1:]) < TOLERANCE


def test_an_adapter_of_some_projections_leaves_the_others(llama: LoadedModel) -> None:
    chosen = [target for target in llama.adapters.targets.values() if target.name == "q_proj"]
    llama.adapters.put((20, 1), random_content(chosen, 20))
    together = prefill(llama, [prompt(1, 6)] * 2, [(20, 1, 0), use(1)])
    assert error(together[0], prefill(llama, [prompt(1, 6)], [(20, 1, 0)])[0]) < TOLERANCE


def test_an_adapter_that_was_never_loaded_changes_no_bit(llama: LoadedModel) -> None:  # A1
    llama.adapters.put((30, 0), AdapterContent())
    plain = prefill(llama, [prompt(1, 6)], None)
    assert prefill(llama, [prompt(1, 6)], [(30, 0, 0)]).tobytes() == plain.tobytes()


def test_values_that_overflow_stay_in_their_own_rows(llama: LoadedModel) -> None:  # E4
    targets = list(llama.adapters.targets.values())
    huge = {
        target.path: LowRank(mx.full(target.down_shape(2), 1e30), mx.full(target.up_shape(2), 1e30), 1.0)
        for target in targets
    }
    llama.adapters.put((40, 1), AdapterContent(huge))
    prompts = [prompt(1, 4)] * 3
    mixed = prefill(llama, prompts, [NONE, (40, 1, 0), use(1)])
    assert not np.isfinite(mixed[1]).all()
    assert mixed[0].tobytes() == prefill(llama, prompts, [NONE, use(2), use(1)])[0].tobytes()
    assert error(mixed[2], prefill(llama, [prompts[2]], [use(1)])[0]) < TOLERANCE


def test_a_version_that_is_gone_fails_the_batch_and_no_more(llama: LoadedModel) -> None:
    with pytest.raises(RuntimeError, match="not in memory"):
        prefill(llama, [prompt(1, 4)], [(50, 1, 0)])
    assert np.isfinite(prefill(llama, [prompt(1, 4)], [use(1)])).all()


def _apply_as_mlx_lm(model: LoadedModel, content: AdapterContent) -> None:
    """Replace every projection by mlx-lm's own module with the same matrices."""
    network = model.network.model  # type: ignore[attr-defined]
    for path, pair in content.additions.items():
        target = model.adapters.targets[path]
        switch = isinstance(target.module, SWITCH)
        kind = LoRASwitchLinear if switch else LoRALinear
        made = kind.from_base(target.module, r=pair.rank, scale=pair.scale)
        made.lora_a = pair.down.swapaxes(-1, -2) if switch else pair.down
        made.lora_b = pair.up.swapaxes(-1, -2) if switch else pair.up
        parent = network
        *parts, last = path.split(".")
        for part in parts:
            parent = parent[int(part)] if part.isdigit() else getattr(parent, part)
        setattr(parent, last, made)
