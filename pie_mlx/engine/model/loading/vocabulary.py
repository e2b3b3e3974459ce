"""The tokenizer of a model directory."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tokenizers import processors

from pie_mlx.documents import json_object, read_limited
from pie_mlx.engine.model.loading.directory import CONFIG_LIMIT_BYTES
from pie_mlx.engine.model.loading.vocabulary_file import check_vocabulary
from pie_mlx.errors import ModelLoadError

_FILES = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "vocab.txt")
_KINDS = ("*.model", "*.tiktoken")
_COPY = "copy the tokenizer files of the original model into the directory"


def load_tokenizer(directory: Path) -> Any:
    """transformers' tokenizer of `directory`. Raises ModelLoadError."""
    if not any(path.is_file() for name in (*_FILES, *_KINDS) for path in directory.glob(name)):
        raise ModelLoadError(f"model: {directory} holds no tokenizer ({', '.join(_FILES[:2])}, ...)", hint=_COPY)
    if (directory / "tokenizer.json").is_file():
        check_vocabulary(directory / "tokenizer.json")
    try:
        tokenizer = _pretrained(directory)
        # Prompts are never padded nor cut, whatever the file says.
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.backend_tokenizer.no_truncation()
        _add_bos(tokenizer, directory)
        return tokenizer
    except (KeyboardInterrupt, SystemExit, ModelLoadError):
        raise
    except BaseException as error:  # transformers raises many kinds for files it cannot read, and tokenizers panics
        raise ModelLoadError(
            f"model: the tokenizer in {directory} cannot be loaded: {' '.join(str(error).split())[:300]}",
            hint="copy the tokenizer files of the original model again",
        ) from error


def _pretrained(directory: Path) -> Any:
    """By the class that the directory names; by tokenizer.json alone where the class is a program in the directory."""
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    # Without the last it would ask on the terminal whether to run code of the directory.
    given: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        return cast("Any", AutoTokenizer).from_pretrained(directory, **given)
    except ValueError as error:
        if "trust_remote_code" not in str(error):
            raise
        if not (directory / "tokenizer.json").is_file():
            raise ModelLoadError(
                f"model: the tokenizer in {directory} is code that came with the model, which is not run",
                hint="use a copy of the model that has a tokenizer.json",
            ) from error
    return cast("Any", PreTrainedTokenizerFast).from_pretrained(directory, **given)


def _add_bos(tokenizer: Any, directory: Path) -> None:
    """Follow `add_bos_token`, which transformers reads only where there is no tokenizer.json."""
    path, bos = directory / "tokenizer_config.json", tokenizer.bos_token
    wanted = path.is_file() and json_object(read_limited(path, CONFIG_LIMIT_BYTES)).get("add_bos_token") is True
    backend = tokenizer.backend_tokenizer
    if bos is None or not wanted or tokenizer.bos_token_id in backend.encode("").ids:
        return
    begins = processors.TemplateProcessing(f"{bos} $A", f"{bos} $A {bos} $B", [(bos, tokenizer.bos_token_id)])
    present = backend.post_processor
    backend.post_processor = begins if present is None else processors.Sequence([present, begins])


def eos_token_ids(config: Mapping[str, Any], tokenizer: Any) -> tuple[int, ...]:
    """End-of-sequence ids by generation_config.json or config.json and by the tokenizer, ascending."""
    named = config.get("eos_token_id")
    ids: set[int] = set()
    if isinstance(named, int):
        ids.add(named)
    elif isinstance(named, Sequence) and not isinstance(named, str):
        ids.update(int(one) for one in cast("Sequence[int]", named))
    if tokenizer.eos_token_id is not None:
        ids.add(int(tokenizer.eos_token_id))
    return tuple(sorted(ids))
