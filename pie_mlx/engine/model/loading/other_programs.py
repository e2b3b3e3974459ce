"""Models that other programs keep on this disk: GGUF files of Ollama and LM Studio, and directories of the latter."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pie_mlx.documents import json_object, read_limited
from pie_mlx.errors import InvalidArgumentError, ModelNotFoundError

_MANIFEST_LIMIT_BYTES = 1 << 20
_OLLAMA_MODEL = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_LATER_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")
_FIRST_PART = re.compile(r"-00001-of-\d{5}\.gguf$")


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model by the name that its program gives it; `path` is a GGUF file or a directory of MLX weights."""

    name: str
    source: str
    path: Path


def gguf_files(directory: Path) -> list[Path]:
    """The GGUF files of models in a directory: of a split one the first part, and none that only sees images."""
    found = [file for file in sorted(directory.glob("*.gguf")) if not file.name.lower().startswith("mmproj")]
    return [file for file in found if _FIRST_PART.search(file.name) or not _LATER_PART.search(file.name)]


def holds_only_gguf(directory: Path) -> bool:
    """Whether a directory has GGUF files and no weights in MLX's format."""
    return bool(gguf_files(directory)) and not any(directory.glob("model*.safetensors"))


def only_gguf(directory: Path, quantization: str = "") -> Path:
    """The GGUF file of a directory whose name has `quantization`. Raises ModelNotFoundError for none or several."""
    files = [file for file in gguf_files(directory) if quantization.casefold() in file.name.casefold()]
    if len(files) == 1:
        return files[0]
    names = [file.name for file in files or gguf_files(directory)]
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    which = f"none of {quantization}" if quantization and not files else "several"
    raise ModelNotFoundError(f"model: {directory} has {which}: {shown}", hint=f"name one: {directory / names[0]}")


def stored_models(environment: Mapping[str, str]) -> list[StoredModel]:
    """All of them, by name."""
    found = [*_of_ollama(environment), *_of_lm_studio(environment)]
    return sorted(found, key=lambda model: model.name.casefold())


def stored_model(name: str, environment: Mapping[str, str]) -> StoredModel | None:
    """The model of that name; of Ollama's, `latest` is meant where no tag is named."""
    wanted = (name, f"{name}:latest")
    return next((model for model in stored_models(environment) if model.name in wanted), None)


def _of_ollama(environment: Mapping[str, str]) -> Iterator[StoredModel]:
    root = Path(environment.get("OLLAMA_MODELS") or _home(environment) / ".ollama" / "models").expanduser()
    for manifest in sorted((root / "manifests").glob("*/*/*/*")):
        host, owner, model, tag = manifest.parts[-4:]
        digest = _weights(manifest)
        if digest is not None and (blob := root / "blobs" / f"sha256-{digest}").is_file():
            place = "" if host == "registry.ollama.ai" else f"{host}/"
            owner = "" if owner == "library" and not place else f"{owner}/"
            yield StoredModel(f"{place}{owner}{model}:{tag}", "ollama", blob)


def _weights(manifest: Path) -> str | None:
    """The digest of the weights that a manifest names."""
    try:
        layers: Any = json_object(read_limited(manifest, _MANIFEST_LIMIT_BYTES)).get("layers")
    except (InvalidArgumentError, OSError):
        return None
    for layer in cast("list[Any]", layers) if isinstance(layers, list) else []:
        match layer:
            case {"mediaType": str(kind), "digest": str(digest)} if kind == _OLLAMA_MODEL:
                found = _DIGEST.fullmatch(digest)
                return found[1] if found else None
            case _:
                continue
    return None


def _of_lm_studio(environment: Mapping[str, str]) -> Iterator[StoredModel]:
    home = _home(environment)
    for root in (home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"):
        for directory in sorted(root.glob("*/*/")):
            name = f"{directory.parent.name}/{directory.name}"
            files = gguf_files(directory)
            if (directory / "config.json").is_file() and not holds_only_gguf(directory):
                yield StoredModel(name, "lm-studio", directory)
            elif len(files) == 1:
                yield StoredModel(name, "lm-studio", files[0])
            else:
                yield from (StoredModel(f"{name}/{file.name}", "lm-studio", file) for file in files)


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or "~").expanduser()
