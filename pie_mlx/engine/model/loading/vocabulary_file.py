"""tokenizer.json, looked at before tokenizers reads it, which panics or allocates without end where it is wrong."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from pie_mlx.documents import json_object, read_limited
from pie_mlx.engine.model.loading.directory import FILE_LIMIT_BYTES
from pie_mlx.errors import InvalidArgumentError, ModelLoadError

IDS = range(1 << 24)
"""The largest vocabularies have a quarter of a million tokens."""
TOKEN_CHARACTERS = 1 << 16


def check_vocabulary(path: Path) -> None:
    """Raises ModelLoadError for ids and tokens that no vocabulary has."""
    try:
        document = json_object(read_limited(path, FILE_LIMIT_BYTES))
    except InvalidArgumentError as error:
        raise _refused(path, error.message) from None
    except OSError as error:
        raise _refused(path, error.strerror or "it cannot be read") from None
    model = document.get("model")
    vocabulary = cast("dict[str, Any]", model).get("vocab") if isinstance(model, dict) else None
    if isinstance(vocabulary, dict):
        ids = cast("dict[str, object]", vocabulary)
        _check_ids(path, ids.values())
        _check_tokens(path, ids)
    elif isinstance(vocabulary, list):
        pieces = cast("list[Any]", vocabulary)
        if not all(isinstance(piece, list) and len(cast("list[Any]", piece)) == 2 for piece in pieces):
            raise _refused(path, "its vocabulary is no list of tokens and scores")
        _check_tokens(path, (piece[0] for piece in pieces))
    else:
        raise _refused(path, "it holds no vocabulary")
    added: object = document.get("added_tokens") or []
    if not isinstance(added, list) or not all(isinstance(one, dict) for one in cast("list[object]", added)):
        raise _refused(path, "its added tokens are no list of tokens")
    tokens = cast("list[dict[str, Any]]", added)
    _check_ids(path, (token.get("id") for token in tokens))
    _check_tokens(path, (token.get("content") for token in tokens))


def _check_ids(path: Path, ids: Iterable[object]) -> None:
    found = list(ids)
    if not all(type(one) is int and one in IDS for one in found):
        raise _refused(path, f"a token's id is not below {len(IDS):,}")
    if len(set(found)) < len(found):
        raise _refused(path, "two tokens have the same id")


def _check_tokens(path: Path, tokens: Iterable[object]) -> None:
    if not all(isinstance(token, str) and len(token) <= TOKEN_CHARACTERS for token in tokens):
        raise _refused(path, f"a token is no text of at most {TOKEN_CHARACTERS:,} characters")


def _refused(path: Path, why: str) -> ModelLoadError:
    return ModelLoadError(f"model: {path}: {why}", hint="copy the tokenizer files of the original model again")
