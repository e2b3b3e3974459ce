"""From what the user calls a model to the directory that holds it."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import cast

from pie_mlx.errors import ModelLoadError, ModelNotFoundError

EMBEDDED = Path(__file__).parents[1] / "embedded"
PATTERNS = ["*.json", "model*.safetensors", "tokenizer.model", "*.tiktoken", "*.txt", "*.jinja"]
EXAMPLE = "mlx-community/Qwen3-0.6B-4bit"
"""What a name looks like."""
WHOLE_BYTES = 256 << 20
SAMPLES, SAMPLE_BYTES = 256, 1 << 16


def find_model(
    reference: str, *, allow_download: bool, progress: Callable[[str], None], revision: str | None = None
) -> Path:
    """The directory of `reference`: a directory, the name of an embedded model, or a repo id in the local cache.

    A repo id that is not cached is downloaded only with `allow_download`. Raises ModelNotFoundError.
    """
    directory = Path(reference).expanduser()
    if directory.is_dir():
        return directory
    if (EMBEDDED / reference / "config.json").is_file():
        return EMBEDDED / reference
    if directory.is_file():
        is_gguf = directory.suffix == ".gguf"
        raise ModelNotFoundError(
            f"model: {reference} is a file" + (", and GGUF is not read" if is_gguf else ": a model is a directory"),
            hint=f"name a directory or a repo of MLX weights, like {EXAMPLE}",
        )
    if directory.is_absolute() or reference.startswith((".", "~")) or reference.count("/") != 1:
        raise ModelNotFoundError(
            f"model: {reference!r} is neither a directory, nor an embedded model, nor a repo id (owner/name)",
            hint=f"'pie model list' shows what is here; of Hugging Face, name owner and model, like {EXAMPLE}",
        )
    return _snapshot(reference, revision, allow_download, progress)


def model_identity(reference: str, revision: str | None = None) -> str:
    """What `find_model` would take for it: the whole path of a directory, or the repo id with its revision."""
    for directory in (Path(reference).expanduser(), EMBEDDED / reference):
        if directory.is_dir():
            return str(directory.resolve())
    return _at(reference, revision)


def _snapshot(repo: str, revision: str | None, allow_download: bool, progress: Callable[[str], None]) -> Path:
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    snapshot_download = cast("Callable[..., str]", getattr(huggingface_hub, "snapshot_download"))  # noqa: B009 - its stub lacks types
    try:
        return Path(snapshot_download(repo, revision=revision, local_files_only=True, allow_patterns=PATTERNS))
    except HFValidationError as error:
        raise no_repo_id(repo, error) from error
    except LocalEntryNotFoundError as error:
        if not allow_download:
            raise ModelNotFoundError(
                f"model: {_at(repo, revision)} is not in the Hugging Face cache, and downloading was not asked for",
                hint=f"fetch it once with: pie model download {repo}",
            ) from error
    progress(f"downloading {repo}")
    try:
        return Path(snapshot_download(repo, revision=revision, allow_patterns=PATTERNS))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise not_downloaded(repo, error) from error


def no_repo_id(repo: str, error: Exception) -> ModelNotFoundError:
    """The error for a name that cannot be one of huggingface.co."""
    hint = f"write owner/name, like {EXAMPLE}"
    return ModelNotFoundError(f"model: {repo!r} is no repo id: {_line(error)}", hint=hint)


def not_downloaded(repo: str, error: Exception) -> ModelNotFoundError:
    """The error for a repo that is not there, not for everybody, or out of reach."""
    why, hint = error, "check the name at huggingface.co/models; private and gated models need HF_TOKEN"
    if isinstance(error, FileNotFoundError) and isinstance(error.__cause__, Exception):
        # Of the hub: neither connected nor in the cache. Its own words are about the cache.
        why, hint = error.__cause__, "check the connection to huggingface.co"
    return ModelNotFoundError(f"model: {repo} could not be downloaded: {_line(why)}", hint=hint)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _at(repo: str, revision: str | None) -> str:
    return repo if revision is None else f"{repo} at revision {revision}"


def weight_files(directory: Path) -> list[Path]:
    """The safetensors files of a model. Raises ModelLoadError when there are none, or one listed is missing."""
    files = sorted(directory.glob("model*.safetensors"))
    if not files:
        raise ModelLoadError(
            f"model: {directory} holds no model*.safetensors", hint="convert other formats with mlx_lm.convert"
        )
    return files


def revision(directory: Path, files: list[Path]) -> bytes:
    """A digest of configuration and weights: all bytes of small files, evenly spaced samples of large ones."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update((directory / "config.json").read_bytes())
    for path in files:
        size = path.stat().st_size
        digest.update(f"\0{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            if size <= WHOLE_BYTES:
                digest.update(file.read())
                continue
            for sample in range(SAMPLES):
                file.seek(sample * (size - SAMPLE_BYTES) // (SAMPLES - 1))
                digest.update(file.read(SAMPLE_BYTES))
    return digest.digest()
