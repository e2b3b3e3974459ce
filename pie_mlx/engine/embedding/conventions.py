"""What sentence-transformers writes beside a model: how its hidden states become vectors, and its prompts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pie_mlx.calls import Pooling
from pie_mlx.documents import json_value, read_limited
from pie_mlx.errors import InvalidArgumentError, ModelLoadError

LIMIT_BYTES = 1 << 20
_POOLINGS: dict[str, Pooling] = {
    "cls_token": "cls",
    "cls": "cls",
    "mean_tokens": "mean",
    "mean": "mean",
    "lasttoken": "last",
    "max_tokens": "max",
    "max": "max",
}
_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*|")


@dataclass(frozen=True, slots=True)
class Conventions:
    """`found` tells whether the files are there; without them texts get no special tokens of a decoder's tokenizer.

    `judges` are the tokens that stand for yes and no in a model that judges documents. `squashes`: the scores of a
    cross-encoder go through a sigmoid. `longest` counts tokens, None where no file says.
    """

    pooling: Pooling = "mean"
    normalizes: bool = True
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    default_prompt: str = ""
    longest: int | None = None
    lowers: bool = False
    judges: tuple[int, int] | None = None
    squashes: bool = True
    found: bool = False


def conventions_in(directory: Path | None, config: Mapping[str, Any], *, is_encoder: bool) -> Conventions:
    """The conventions of a model directory, or the usual ones if it states none. Raises ModelLoadError for unknown
    ones."""
    if directory is None:
        return Conventions()
    told, settings = (
        _file(directory, "config_sentence_transformers.json"),
        _file(directory, "sentence_bert_config.json"),
    )
    modules = _file(directory, "modules.json", list)
    # A conversion may have lost the folders: decoders are trained with their last token.
    pooling: Pooling = "mean" if is_encoder or not modules else "last"
    kinds, judges = list[str](), None
    for module in modules:
        kind, place = _module(directory, module)
        kinds.append(kind)
        if kind == "Pooling" and (place / "config.json").is_file():
            pooling = _pooling(place)
        elif kind == "LogitScore":
            judges = _judges(place)
        elif kind not in ("Transformer", "Pooling", "Normalize"):
            raise ModelLoadError(
                f"model: {directory / 'modules.json'} has a module {kind}, which is not implemented",
                hint="choose a model of the modules Transformer, Pooling, Normalize and LogitScore",
            )
    prompts = _prompts(directory, told)
    longest = settings.get("max_seq_length")
    return Conventions(
        pooling=pooling,
        normalizes="Normalize" in kinds or not modules,
        prompts=prompts,
        default_prompt=prompts.get(str(told.get("default_prompt_name")), ""),
        longest=longest if type(longest) is int and longest > 0 else None,
        lowers=settings.get("do_lower_case") is True,
        judges=judges,
        squashes=not _activation(told, config).endswith("Identity"),
        found=bool(modules),
    )


def _module(directory: Path, module: object) -> tuple[str, Path]:
    """The kind of a module, and its folder."""
    shown = str(module)[:80]
    named = cast("dict[str, Any]", module) if isinstance(module, dict) else {}
    path, kind = named.get("path", ""), named.get("type", "")
    if not isinstance(kind, str) or not isinstance(path, str) or not _PATH.fullmatch(path):
        raise ModelLoadError(f"model: {directory / 'modules.json'}: {shown}", hint="fetch the model again")
    return kind.rpartition(".")[2], directory / path


def _pooling(folder: Path) -> Pooling:
    told = _file(folder, "config.json")
    named = told.get("pooling_mode")
    flags = [
        key.removeprefix("pooling_mode_") for key, value in told.items() if value is True and "pooling_mode_" in key
    ]
    chosen = [named] if isinstance(named, str) else flags
    found = _POOLINGS.get(chosen[0]) if len(chosen) == 1 else None
    if found is None or told.get("include_prompt") is False:
        raise ModelLoadError(
            f"model: the pooling in {folder} is {', '.join(chosen) or 'none'}, which is not implemented",
            hint=f"choose a model of one of {', '.join(sorted(set(_POOLINGS.values())))}, prompts included",
        )
    return found


def _judges(folder: Path) -> tuple[int, int] | None:
    told = _file(folder, "config.json")
    yes, no = told.get("true_token_id"), told.get("false_token_id")
    return (yes, no) if type(yes) is int and type(no) is int else None


def _prompts(directory: Path, told: Mapping[str, Any]) -> dict[str, str]:
    found: object = told.get("prompts") or {}
    texts = cast("dict[object, object]", found) if isinstance(found, dict) else {"": None}
    if not all(isinstance(text, str) for text in texts.values()):
        path = directory / "config_sentence_transformers.json"
        raise ModelLoadError(f"model: {path}: prompts are no texts", hint="fetch the model again")
    return {str(name): str(text) for name, text in texts.items()}


def _activation(told: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The name of the function of a cross-encoder's scores."""
    own = config.get("sentence_transformers")
    inner = cast("dict[str, Any]", own).get("activation_fn") if isinstance(own, dict) else None
    return str(told.get("activation_fn") or inner or config.get("sbert_ce_default_activation_function") or "Sigmoid")


def _file(folder: Path, name: str, kind: type = dict) -> Any:
    """The value of a JSON file, an empty one where there is no file."""
    path = folder / name
    if not path.is_file():
        return kind()
    try:
        value = json_value(read_limited(path, LIMIT_BYTES))
    except InvalidArgumentError as error:
        raise ModelLoadError(f"model: {path}: {error.message}", hint="fetch the model again") from None
    except OSError as error:
        raise ModelLoadError(f"model: {path}: {error.strerror}", hint="check its permissions") from None
    if not isinstance(value, kind):
        raise ModelLoadError(f"model: {path} is no JSON {kind.__name__}", hint="fetch the model again")
    return value
