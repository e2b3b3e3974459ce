"""Conversions of GGUF files, kept below $PIE_HOME, so that each is made once."""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pie_mlx.documents import json_object, read_limited
from pie_mlx.engine.model.gguf.convert import Choice, convert
from pie_mlx.engine.model.gguf.header import refused
from pie_mlx.errors import InvalidArgumentError, ModelLoadError
from pie_mlx.files import disk_hint, make_private

SOURCE_FILE = "source.json"
_FORMAT = 1
"""Raised when conversions change, so that old ones are made again."""
_SOURCE_LIMIT_BYTES = 1 << 20


def conversions(environment: Mapping[str, str]) -> Path:
    """The directory of all conversions."""
    home = environment.get("PIE_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".pie")
    return Path(home) / "models"


def converted(path: Path, progress: Callable[[str], None], environment: Mapping[str, str] = os.environ) -> Path:
    """The directory of a converted file; converts it if that was not done yet. Raises ModelLoadError."""
    directory = conversion_of(path, environment)
    if (directory / SOURCE_FILE).is_file():
        return directory
    progress(f"converting {path.name} to MLX's format, once")
    for choice in write_conversion(path, directory):
        progress(str(choice))
    return directory


def conversion_of(path: Path, environment: Mapping[str, str]) -> Path:
    """Where the conversion of a file is, or would be: another place once the file changes. Raises ModelLoadError."""
    whole = path.resolve()
    try:
        facts = whole.stat()
    except OSError as error:
        raise refused(path, error.strerror or "it cannot be read", "check its permissions") from None
    key = f"{_FORMAT}\0{whole}\0{facts.st_size}\0{facts.st_mtime_ns}"
    name = path.name.removesuffix(".gguf")[:80]
    return conversions(environment) / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def write_conversion(path: Path, directory: Path, *, dtype: str = "auto", dequantise: bool = False) -> list[Choice]:
    """Convert a file to `directory`, replacing what is there, whole or not at all. Raises ModelLoadError."""
    unfinished = directory.with_name(f".{directory.name}-{secrets.token_hex(4)}.new")
    try:
        make_private(directory.parent)
        unfinished.mkdir()
        choices = convert(path, unfinished, dtype=dtype, dequantise=dequantise)
        source = {"path": str(path.resolve()), "choices": [str(choice) for choice in choices]}
        for stale in [directory, *(old for old, of in _made(directory.parent) if of == source["path"])]:
            shutil.rmtree(stale, ignore_errors=True)
        (unfinished / SOURCE_FILE).write_text(json.dumps(source))
        unfinished.rename(directory)
    except OSError as error:
        raise ModelLoadError(
            f"model: {path} cannot be converted to {directory}: {error.strerror or error}",
            hint=disk_hint(error, "check the permissions of that directory"),
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return choices


def conversions_of(path: Path, environment: Mapping[str, str]) -> list[Path]:
    """Directories with conversions of a file, also of earlier contents."""
    return [directory for directory, source in _made(conversions(environment)) if source == str(path.resolve())]


def _made(root: Path) -> Iterator[tuple[Path, Any]]:
    """Conversions in a directory, and what each was made from."""
    for file in sorted(root.glob(f"*/{SOURCE_FILE}")):
        try:
            yield file.parent, json_object(read_limited(file, _SOURCE_LIMIT_BYTES)).get("path")
        except (InvalidArgumentError, OSError):
            continue
