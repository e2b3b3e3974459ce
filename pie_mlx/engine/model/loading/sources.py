"""From what the user calls a model to the directory that holds it."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import cast

from pie_mlx.engine.model.loading.other_programs import holds_only_gguf, only_gguf, stored_model
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
    """The directory of `reference`: a directory, a GGUF file, an embedded model, a repo id in the local cache (with
    `:QUANT` for one of its GGUF files), or a model of Ollama or LM Studio by its name there.

    A GGUF file is converted the first time. A repo id that is not cached is downloaded only with `allow_download`.
    Raises ModelNotFoundError, and ModelLoadError for a GGUF file that cannot be converted.
    """
    return ready(located(reference, allow_download=allow_download, progress=progress, revision=revision), progress)


def ready(path: Path, progress: Callable[[str], None]) -> Path:
    """The directory of a model that was located. MLX converts a GGUF file: while an engine runs, on its thread.

    Raises ModelLoadError for one that cannot be converted.
    """
    if path.is_dir():
        return path
    from pie_mlx.engine.model.gguf.converted import converted  # MLX comes with it, and not all who find models load one

    return converted(path, progress)


def located(
    reference: str, *, allow_download: bool, progress: Callable[[str], None], revision: str | None = None
) -> Path:
    """The same, but a GGUF file as it is."""
    path = Path(reference).expanduser()
    if path.is_dir():
        return _weights_in(path)
    if (EMBEDDED / reference / "config.json").is_file():
        return EMBEDDED / reference
    if path.is_file():
        if is_gguf(path):
            return path
        raise ModelNotFoundError(
            f"model: {reference} is a file, and no GGUF: a model is a GGUF file or a directory",
            hint=f"name a GGUF file, a directory or a repo of MLX weights, like {EXAMPLE}",
        )
    is_path = path.is_absolute() or reference.startswith((".", "~"))
    if not is_path and (stored := stored_model(reference, os.environ)):
        return stored.path
    repo, _, quantization = reference.partition(":")
    if is_path or repo.count("/") != 1:
        raise ModelNotFoundError(
            f"model: {reference!r} is neither a directory or GGUF file, nor an embedded model, nor one of Ollama or "
            "LM Studio, nor a repo id (owner/name)",
            hint=f"'pie model list' shows what is here; of Hugging Face, name owner and model, like {EXAMPLE}",
        )
    return _weights_in(_snapshot(repo, quantization, revision, allow_download, progress), quantization)


def is_gguf(path: Path) -> bool:
    """Whether a file is, or is called, GGUF; Ollama gives its files no such name."""
    with path.open("rb") as file:
        return path.suffix == ".gguf" or file.read(4) == b"GGUF"


def _weights_in(directory: Path, quantization: str = "") -> Path:
    """The directory, or the one GGUF file in it."""
    return only_gguf(directory, quantization) if quantization or holds_only_gguf(directory) else directory


def model_identity(reference: str, revision: str | None = None) -> str:
    """What `find_model` would take for it: the whole path of a directory or file, or the name with its revision."""
    for path in (Path(reference).expanduser(), EMBEDDED / reference):
        if path.exists():
            return str(path.resolve())
    return _at(reference, revision)


def patterns_of(quantization: str) -> list[str]:
    """The files of a repo that are needed: its MLX weights, or those of one GGUF file."""
    return [f"*{quantization}*.gguf", f"*{quantization.lower()}*.gguf"] if quantization else PATTERNS


def _snapshot(
    repo: str, quantization: str, revision: str | None, allow_download: bool, progress: Callable[[str], None]
) -> Path:
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    snapshot_download = cast("Callable[..., str]", getattr(huggingface_hub, "snapshot_download"))  # noqa: B009 - its stub lacks types
    wanted = patterns_of(quantization)
    try:
        return Path(snapshot_download(repo, revision=revision, local_files_only=True, allow_patterns=wanted))
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
        return Path(snapshot_download(repo, revision=revision, allow_patterns=wanted))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise not_downloaded(repo, error) from error


def no_repo_id(repo: str, error: Exception) -> ModelNotFoundError:
    """The error for a name that cannot be one of huggingface.co."""
    hint = f"write owner/name, like {EXAMPLE}"
    return ModelNotFoundError(f"model: {repo!r} is no repo id: {one_line(error)}", hint=hint)


def not_downloaded(repo: str, error: Exception) -> ModelNotFoundError:
    """The error for a repo that is not there, not for everybody, or out of reach."""
    why, hint = error, "check the name at huggingface.co/models; private and gated models need HF_TOKEN"
    if isinstance(error, FileNotFoundError) and isinstance(error.__cause__, Exception):
        # Of the hub: neither connected nor in the cache. Its own words are about the cache.
        why, hint = error.__cause__, "check the connection to huggingface.co"
    return ModelNotFoundError(f"model: {repo} could not be downloaded: {one_line(why)}", hint=hint)


def one_line(error: Exception) -> str:
    """What an error says."""
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
