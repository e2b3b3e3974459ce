"""Adapter files: what is read, and what is refused by name."""

import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.model.adapters import AdapterContent, Target, read_adapter, write_adapter
from pie_mlx.errors import AdapterError, AdapterFormatError, AdapterShapeError
from tests.engine.adapters.folders import Pairs, write_mlx_lm, write_peft

WIDTH, OUT, EXPERTS = 6, 4, 3
Q, K = "model.layers.0.self_attn.q_proj", "model.layers.1.self_attn.k_proj"
SWITCH = "model.layers.0.mlp.switch_mlp.gate_proj"
TARGETS = {
    path: Target(path, None, WIDTH, OUT, experts, 0, 0, is_head=False)  # type: ignore[arg-type]
    for path, experts in ((Q, 0), (K, 0), (SWITCH, EXPERTS), ("lm_head", 0))
}


def pair(rank: int = 2, experts: int = 0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    lead = (experts,) if experts else ()
    down, up = random.standard_normal((*lead, WIDTH, rank)), random.standard_normal((*lead, rank, OUT))
    return down.astype(np.float32), up.astype(np.float32)


def read(folder: Path) -> AdapterContent:
    (weights,) = folder.glob("*.safetensors")
    return read_adapter((folder / "adapter_config.json").read_text(), weights.read_bytes(), TARGETS, mx.float32)


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_tensors(folder: Path, change: Callable[[dict[str, mx.array]], None]) -> None:
    (path,) = folder.glob("*.safetensors")
    tensors = dict(mx.load(str(path)))  # type: ignore[arg-type]
    mx.eval(tensors)
    change(tensors)
    mx.save_safetensors(str(path), tensors)


def test_mlx_lm_folders_are_read(tmp_path: Path) -> None:  # A3
    pairs: Pairs = {Q: pair(2), SWITCH: pair(2, EXPERTS)}
    found = read(write_mlx_lm(tmp_path, pairs, rank=2, scale=20.0)).additions
    assert {path: one.scale for path, one in found.items()} == {Q: 20.0, SWITCH: 20.0}
    for path, (down, up) in pairs.items():
        assert (np.array(found[path].down) == down).all()
        assert (np.array(found[path].up) == up).all()


def test_peft_folders_are_read(tmp_path: Path) -> None:  # A3
    down, up = pair(2)
    one = read(write_peft(tmp_path, {Q: (down, up)}, rank=2, alpha=8)).additions[Q]
    assert one.scale == 4.0
    assert (np.array(one.down) == down).all()
    assert (np.array(one.up) == up).all()


def test_rslora_divides_by_the_root_of_the_rank(tmp_path: Path) -> None:  # A2, T39
    assert read(write_peft(tmp_path, {Q: pair(4)}, rank=4, alpha=8, use_rslora=True)).additions[Q].scale == 4.0


def test_rank_and_alpha_of_single_projections_count(tmp_path: Path) -> None:  # A3
    patterns = {"rank_pattern": {"k_proj": 5}, "alpha_pattern": {"layers.1.self_attn.k_proj": 20}}
    found = read(write_peft(tmp_path, {Q: pair(2), K: pair(5)}, rank=2, alpha=8, **patterns)).additions
    assert (found[Q].rank, found[Q].scale, found[K].rank, found[K].scale) == (2, 4.0, 5, 4.0)


@pytest.mark.parametrize(("block", "part"), [("mlp", "gate_proj"), ("mlp", "w1")])
def test_single_experts_of_peft_are_stacked(tmp_path: Path, block: str, part: str) -> None:  # A2
    experts = {f"model.layers.0.{block}.experts.{number}.{part}": pair(2, seed=number) for number in range(EXPERTS)}
    one = read(write_peft(tmp_path, experts, rank=2)).additions[SWITCH]
    for number, (down, up) in enumerate(experts.values()):
        assert (np.array(one.down[number]) == down).all()
        assert (np.array(one.up[number]) == up).all()


def test_a_name_without_the_models_prefix_means_the_only_projection_it_fits(tmp_path: Path) -> None:
    assert set(read(write_peft(tmp_path, {"layers.0.self_attn.q_proj": pair()}, rank=2)).additions) == {Q}


def test_a_name_that_fits_two_projections_is_refused(tmp_path: Path) -> None:  # A3
    folder = write_peft(tmp_path, {"layers.0.self_attn.q_proj": pair()}, rank=2)
    config, weights = (folder / "adapter_config.json").read_text(), (folder / "adapter_model.safetensors").read_bytes()
    with pytest.raises(AdapterShapeError, match="no projection"):
        read_adapter(config, weights, {**TARGETS, f"tower.{Q}": TARGETS[Q]}, mx.float32)


def test_two_pairs_for_one_projection_are_refused(tmp_path: Path) -> None:  # A3
    with pytest.raises(AdapterFormatError, match="two pairs"):
        read(write_peft(tmp_path, {Q: pair(), "layers.0.self_attn.q_proj": pair()}, rank=2))


def test_a_pattern_is_of_whole_names(tmp_path: Path) -> None:  # A3
    found = read(write_peft(tmp_path, {Q: pair()}, rank=2, alpha=8, alpha_pattern={"proj": 20, "_proj": 20})).additions
    assert found[Q].scale == 4.0


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_matrices_become_of_the_models_type(tmp_path: Path, dtype: mx.Dtype) -> None:
    folder = write_peft(tmp_path, {Q: pair()}, rank=2)
    change_tensors(folder, lambda tensors: tensors.update({k: v.astype(dtype) for k, v in tensors.items()}))
    assert read(folder).additions[Q].down.dtype == mx.float32


def test_what_was_written_is_read_back(tmp_path: Path) -> None:  # A1
    before = read(
        write_peft(tmp_path, {Q: pair(2), K: pair(4), "lm_head": pair(2)}, rank=2, rank_pattern={"k_proj": 4})
    )
    config, data = write_adapter(before, 2)
    after = read_adapter(config, data, TARGETS, mx.float32)
    assert before.additions.keys() == after.additions.keys()
    for path, one in before.additions.items():
        assert mx.array_equal(one.down, after.additions[path].down)
        assert mx.array_equal(one.up, after.additions[path].up)
        assert one.scale == after.additions[path].scale


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ({"use_dora": True}, "DoRA"),
        ({"bias": "all"}, "bias all"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"init_lora_weights": "pissa_niter_4"}, "init_lora_weights pissa_niter_4"),
        ({"init_lora_weights": "olora"}, "init_lora_weights olora"),
        ({"init_lora_weights": "CorDA"}, "init_lora_weights CorDA"),
        ({"init_lora_weights": "loftq"}, "init_lora_weights loftq"),
        ({"peft_type": "IA3"}, "IA3"),
        ({"target_parameters": ["experts"]}, "target_parameters"),
        ({"rank_pattern": {".*q_proj": 2}}, "regular expressions"),
        ({"r": 0}, "rank"),
        ({"r": 3}, "rank"),
        ({"r": None}, "rank"),
        ({"lora_alpha": "eight"}, "lora_alpha"),
        ({"lora_alpha": float("nan")}, "lora_alpha"),
        ({"rank_pattern": [2]}, "rank_pattern"),
    ],
)
def test_what_peft_can_do_and_we_cannot_is_named(tmp_path: Path, config: dict[str, Any], part: str) -> None:  # A3
    with pytest.raises(AdapterFormatError, match=part):
        read(write_peft(tmp_path, {Q: pair()}, rank=2, **config))


@pytest.mark.parametrize("start", [True, False, "gaussian", "eva"], ids=str)
def test_where_training_began_does_not_matter(tmp_path: Path, start: object) -> None:  # A3
    made = read(write_peft(tmp_path, {Q: pair()}, rank=2, init_lora_weights=start))
    assert list(made.additions) == [Q]


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ({"fine_tune_type": "dora"}, "dora"),
        ({"fine_tune_type": "full"}, "full"),
        ({"lora_parameters": {"rank": 2}}, "scale"),
        ({"lora_parameters": {"rank": 0, "scale": 1.0}}, "rank"),
        ({"lora_parameters": None}, "lora_parameters"),
    ],
)
def test_what_mlx_lm_can_do_and_we_cannot_is_named(tmp_path: Path, config: dict[str, Any], part: str) -> None:  # A3
    with pytest.raises(AdapterFormatError, match=part):
        read(write_mlx_lm(tmp_path, {Q: pair()}, rank=2, **config))


@pytest.mark.parametrize(
    "name",
    [
        f"base_model.model.{Q}.lora_magnitude_vector",
        f"base_model.model.{Q}.base_layer.bias",
        "base_model.model.model.embed_tokens.lora_embedding_A",
        "base_model.model.lm_head.weight",
    ],
)
def test_a_tensor_that_is_no_low_rank_matrix_is_named(tmp_path: Path, name: str) -> None:  # A3
    folder = write_peft(tmp_path, {Q: pair()}, rank=2)
    change_tensors(folder, lambda tensors: tensors.update({name: mx.zeros((2, WIDTH))}))
    with pytest.raises(AdapterFormatError, match=re.escape(name.removeprefix("base_model.model."))):
        read(folder)


def test_a_missing_matrix_is_named(tmp_path: Path) -> None:  # A3
    folder = write_peft(tmp_path, {Q: pair()}, rank=2)
    change_tensors(folder, lambda tensors: tensors.pop(f"base_model.model.{Q}.lora_B.weight"))
    with pytest.raises(AdapterFormatError, match=r"q_proj.lora_B is missing"):
        read(folder)


def test_a_missing_expert_is_named(tmp_path: Path) -> None:
    with pytest.raises(AdapterFormatError, match=r"experts 0, 1: they are missing"):
        read(write_peft(tmp_path, {"model.layers.0.mlp.experts.2.gate_proj": pair()}, rank=2))


def test_a_file_without_matrices_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AdapterFormatError, match="no matrices"):
        read(write_mlx_lm(tmp_path, {}, rank=2))


def test_rank_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AdapterFormatError, match="rank 0"):
        read(write_peft(tmp_path, {Q: pair(0)}, rank=0))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_are_not_finite_are_refused(tmp_path: Path, value: float) -> None:
    down, up = pair()
    down[1, 1] = value
    with pytest.raises(AdapterFormatError, match="NaN or infinite"):
        read(write_mlx_lm(tmp_path, {Q: (down, up)}, rank=2))


def test_an_unknown_layer_is_another_models(tmp_path: Path) -> None:  # A3
    with pytest.raises(AdapterShapeError, match=r"layers\.9"):
        read(write_peft(tmp_path, {"model.layers.9.self_attn.q_proj": pair()}, rank=2))


def test_other_widths_are_another_models(tmp_path: Path) -> None:  # A3
    down, up = pair()
    with pytest.raises(AdapterShapeError, match=r"\[5, 2\], the model needs \[6, 2\]"):
        read(write_mlx_lm(tmp_path, {Q: (down[:5], up)}, rank=2))
    with pytest.raises(AdapterShapeError, match=r"\[2, 3\], the model needs \[2, 4\]"):
        read(write_mlx_lm(tmp_path, {Q: (down, up[:, :3])}, rank=2))


@given(data=st.data())
def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    folder = write_peft(tmp_path_factory.mktemp("adapter"), {Q: pair()}, rank=2)
    weights = (folder / "adapter_model.safetensors").read_bytes()
    end = data.draw(st.integers(0, len(weights) - 1))
    with pytest.raises(AdapterFormatError):
        read_adapter((folder / "adapter_config.json").read_text(), weights[:end], TARGETS, mx.float32)


@given(st.binary(max_size=200), st.text(max_size=40))
def test_nothing_but_typed_errors_comes_out_of_garbage(data: bytes, config: str) -> None:
    for text in (config, '{"peft_type": "LORA"}', '{"lora_parameters": {}}'):
        for weights in (data, struct.pack("<Q", len(data)) + data):
            with pytest.raises(AdapterError):
                read_adapter(text, weights, TARGETS, mx.float32)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [1000, 1000], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        {"dtype": "F32", "shape": [-2, -1], "data_offsets": [0, 8]},
        {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2]},
        {"dtype": "F32", "shape": "ab", "data_offsets": [0, 8]},
        [],
    ],
)
def test_a_header_that_lies_is_refused(entry: Any) -> None:
    header = json.dumps({f"base_model.model.{Q}.lora_A.weight": entry}).encode()
    weights = struct.pack("<Q", len(header)) + header + bytes(8)
    with pytest.raises(AdapterFormatError):
        read_adapter('{"peft_type": "LORA", "r": 2, "lora_alpha": 2}', weights, TARGETS, mx.float32)


def test_a_configuration_of_neither_kind_is_refused(tmp_path: Path) -> None:
    folder = write_peft(tmp_path, {Q: pair()}, rank=2)
    (folder / "adapter_config.json").write_text('{"r": 2}')
    with pytest.raises(AdapterFormatError, match="neither"):
        read(folder)
