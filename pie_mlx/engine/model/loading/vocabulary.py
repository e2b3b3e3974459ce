"""The tokenizer of a model directory."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pie_mlx.engine.model.loading.vocabulary_file import check_vocabulary
from pie_mlx.errors import ModelLoadError

_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "tokenizer_config.json", "tiktoken.model")


def load_tokenizer(directory: Path) -> Any:
    """transformers' tokenizer of `directory`. Raises ModelLoadError."""
    if not any((directory / name).is_file() for name in _FILES):
        raise ModelLoadError(
            f"model: {directory} holds no tokenizer ({', '.join(_FILES[:2])}, ...)",
            hint="copy the tokenizer files of the original model into the directory",
        )
    from transformers import AutoTokenizer

    if (directory / "tokenizer.json").is_file():
        check_vocabulary(directory / "tokenizer.json")
    try:
        # Without the last it would ask on the terminal whether to run code of the directory.
        tokenizer = cast("Any", AutoTokenizer).from_pretrained(
            directory, local_files_only=True, trust_remote_code=False
        )
        # Prompts are never padded nor cut, whatever the file says.
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.backend_tokenizer.no_truncation()
        return tokenizer
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # transformers raises many kinds for files it cannot read, and tokenizers panics
        raise ModelLoadError(
            f"model: the tokenizer in {directory} cannot be loaded: {' '.join(str(error).split())[:300]}",
            hint="copy the tokenizer files of the original model again",
        ) from error


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
