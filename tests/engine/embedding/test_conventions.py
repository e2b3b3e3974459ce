"""What sentence-transformers writes beside a model is read, or refused where it is not implemented."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.tiny_encoders import write_conventions
from pie_mlx.engine.embedding.conventions import Conventions, conventions_in
from pie_mlx.errors import ModelLoadError

PLACE = "sentence_transformers.models."


def read(folder: Path | None, config: dict[str, Any] | None = None, *, is_encoder: bool = True) -> Conventions:
    return conventions_in(folder, config or {}, is_encoder=is_encoder)


def write(folder: Path, name: str, value: object) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(value))


@pytest.mark.parametrize("pooling", ["cls", "mean", "last", "max"])
def test_pooling_norm_and_prompts_are_those_of_the_files(pooling: str, tmp_path: Path) -> None:
    found = read(write_conventions(tmp_path, pooling=pooling, normalises=False, query="q: "))
    assert (found.pooling, found.normalizes, found.prompts) == (pooling, False, {"query": "q: "})
    assert found.found


def test_newer_files_name_their_pooling(tmp_path: Path) -> None:
    write_conventions(tmp_path)
    write(tmp_path, "1_Pooling/config.json", {"pooling_mode": "lasttoken"})
    assert read(tmp_path).pooling == "last"


def test_without_files_vectors_are_means_of_length_1(tmp_path: Path) -> None:
    assert read(tmp_path) == read(None) == Conventions()


def test_a_decoder_whose_folders_were_lost_takes_its_last_token(tmp_path: Path) -> None:
    write_conventions(tmp_path)
    (tmp_path / "1_Pooling" / "config.json").unlink()
    assert [read(tmp_path, is_encoder=one).pooling for one in (False, True)] == ["last", "mean"]


def test_limits_and_a_default_prompt_are_read(tmp_path: Path) -> None:
    write_conventions(tmp_path)
    write(tmp_path, "sentence_bert_config.json", {"max_seq_length": 40, "do_lower_case": True})
    told = {"prompts": {"document": "d: "}, "default_prompt_name": "document"}
    write(tmp_path, "config_sentence_transformers.json", told)
    found = read(tmp_path)
    assert (found.longest, found.lowers, found.default_prompt) == (40, True, "d: ")


@pytest.mark.parametrize(
    ("config", "squashes"),
    [
        ({}, True),
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}, False),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}, False),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.activation.Sigmoid"}, True),
    ],
)
def test_scores_are_squashed_unless_the_model_says_otherwise(
    config: dict[str, Any], squashes: bool, tmp_path: Path
) -> None:
    assert read(tmp_path, config).squashes is squashes


def test_a_model_that_judges_tells_its_tokens(tmp_path: Path) -> None:
    write(tmp_path, "modules.json", [{"type": f"{PLACE}Transformer"}, {"type": f"{PLACE}LogitScore", "path": "1_L"}])
    write(tmp_path, "1_L/config.json", {"true_token_id": 7, "false_token_id": 8})
    assert read(tmp_path, is_encoder=False).judges == (7, 8)
    write(tmp_path, "1_L/config.json", {"true_token_id": 7, "false_token_id": None})
    assert read(tmp_path, is_encoder=False).judges is None


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("modules.json", {}, "no JSON list"),
        ("modules.json", [{"type": f"{PLACE}Dense", "path": "2_Dense"}], "Dense"),
        ("modules.json", [{"type": f"{PLACE}Pooling", "path": "../elsewhere"}], "elsewhere"),
        ("modules.json", ["Pooling"], "modules.json"),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, "mean_tokens"),
        ("1_Pooling/config.json", {"pooling_mode_weightedmean_tokens": True}, "weightedmean"),
        ("1_Pooling/config.json", {"pooling_mode_mean_tokens": True, "include_prompt": False}, "not implemented"),
        ("config_sentence_transformers.json", {"prompts": {"query": 5}}, "prompts"),
        ("config_sentence_transformers.json", {"prompts": "q"}, "prompts"),
    ],
)
def test_what_is_not_implemented_or_damaged_is_refused(name: str, value: object, words: str, tmp_path: Path) -> None:
    write(write_conventions(tmp_path), name, value)
    with pytest.raises(ModelLoadError, match=words):
        read(tmp_path)
