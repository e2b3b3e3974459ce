"""The models on this disk: those of the package, the Hugging Face cache, Ollama and LM Studio."""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pie_mlx.engine.model.gguf.converted import conversions_of
from pie_mlx.engine.model.loading.other_programs import gguf_files, holds_only_gguf, only_gguf, stored_models
from pie_mlx.engine.model.loading.sources import EMBEDDED, is_gguf
from pie_mlx.errors import ModelNotFoundError
from pie_mlx.runtime.models.loadable import Suitability, gguf_suitability, suitability

_HUGGING_FACE = "hugging-face"
_QUANTIZATION = re.compile(
    r"[-._]((?:UD-)?(?:I?Q\d\w*|MXFP4\w*|BF16|F16|F32))(?:-\d{5}-of-\d{5})?\.gguf$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model on this disk, in a directory or a GGUF file. `modified_at` is Unix time; `source` is the program that
    keeps it; only models of the Hugging Face cache have a revision."""

    name: str
    path: Path
    revision: str
    size_bytes: int
    modified_at: float
    suitability: Suitability
    source: str = ""

    @property
    def embedded(self) -> bool:
        return self.path.parent == EMBEDDED


def models_on_disk() -> list[CachedModel]:
    """All models, by where they are kept and by name."""
    stored = [_at(one.path, one.name, one.source) for one in stored_models(os.environ)]
    return [*embedded_models(), *cached_models(), *stored]


def embedded_models() -> list[CachedModel]:
    """The models embedded in the package."""
    return [_at(file.parent, file.parent.name, "pie-mlx") for file in sorted(EMBEDDED.glob("*/config.json"))]


def cached_models() -> list[CachedModel]:
    """The models of the Hugging Face cache, by name, each in the revision that is loaded: `main`, or else the newest.

    Of a repo with several GGUF files each is one.
    """
    repos = [repo for repo in _repos() if repo.repo_type == "model" and repo.revisions]
    return [model for repo in sorted(repos, key=lambda repo: repo.repo_id.casefold()) for model in _cached(repo)]


def find_on_disk(name: str) -> CachedModel:
    """A model by its name, or the one in the directory or GGUF file `name`. Raises ModelNotFoundError."""
    path = Path(name).expanduser()  # an empty name would mean the current directory
    if name and path.is_dir():
        return _at(only_gguf(path) if holds_only_gguf(path) else path, name, "")
    return _at(path, name, "") if name and path.is_file() and is_gguf(path) else find_cached(name)


def find_cached(name: str) -> CachedModel:
    """A model by its name. Raises ModelNotFoundError."""
    for model in models_on_disk():
        if model.name in (name, f"{name}:latest"):
            return model
    raise ModelNotFoundError(
        f"model: {name or 'an empty name'} is not on this disk", hint="'pie model list' shows what is"
    )


def remove_cached(name: str) -> int:
    """Remove a model: all revisions of a repo from the Hugging Face cache, and what was converted from its GGUF files.

    Of a model that Ollama or LM Studio keeps only what was converted is removed. Returns the bytes freed. Raises
    ModelNotFoundError.
    """
    model = find_cached(name)
    if model.embedded:
        raise ModelNotFoundError(f"model: {name} is part of pie-mlx", hint="only downloaded models can be removed")
    made = _conversions(model)
    if model.source != _HUGGING_FACE and not made:
        raise ModelNotFoundError(
            f"model: {name} belongs to {model.source}, and nothing was converted from it",
            hint="remove it with that program",
        )
    freed = sum(_bytes_of(directory) for directory in made)
    for directory in made:
        shutil.rmtree(directory)
    return freed + (_remove_repo(_repo_of(name)) if model.source == _HUGGING_FACE else 0)


def removable_bytes(model: CachedModel) -> int:
    """What removing a model frees."""
    made = sum(_bytes_of(directory) for directory in _conversions(model))
    return made + (model.size_bytes if model.source == _HUGGING_FACE else 0)


def _conversions(model: CachedModel) -> list[Path]:
    if model.source != _HUGGING_FACE:
        return conversions_of(model.path, os.environ) if model.path.is_file() else []
    others = [one for one in cached_models() if _repo_of(one.name) == _repo_of(model.name)]
    return [made for one in others if one.path.is_file() for made in conversions_of(one.path, os.environ)]


def _repo_of(name: str) -> str:
    return name.partition(":")[0]


def _remove_repo(repo_id: str) -> int:
    info = _scan()
    revisions = [
        revision.commit_hash
        for repo in info.repos
        if repo.repo_id == repo_id and repo.repo_type == "model"
        for revision in repo.revisions
    ]
    strategy = info.delete_revisions(*revisions)
    strategy.execute()
    return int(strategy.expected_freed_size)


def _repos() -> list[Any]:
    info = _scan()
    return list(info.repos) if info is not None else []


def _scan() -> Any:
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        return cast("Any", scan_cache_dir())
    except CacheNotFound:
        return None


def _cached(repo: Any) -> Iterator[CachedModel]:
    revisions = sorted(repo.revisions, key=_age)
    chosen = next((revision for revision in revisions if "main" in revision.refs), revisions[-1])
    snapshot = Path(chosen.snapshot_path)
    whole = CachedModel(
        name=repo.repo_id,
        path=snapshot,
        revision=chosen.commit_hash,
        size_bytes=repo.size_on_disk,
        modified_at=repo.last_modified,
        suitability=Suitability(),
        source=_HUGGING_FACE,
    )
    files = gguf_files(snapshot) if holds_only_gguf(snapshot) else []
    if not files:
        yield replace(whole, suitability=_suitability(snapshot, Path(repo.repo_path)))
    for file in files:
        name = whole.name if len(files) == 1 else f"{whole.name}:{_quantization_of(file)}"
        yield replace(whole, name=name, path=file, suitability=gguf_suitability(file))


def _quantization_of(file: Path) -> str:
    found = _QUANTIZATION.search(file.name)
    return found[1] if found else file.stem


def _suitability(snapshot: Path, repo: Path) -> Suitability:
    found = suitability(snapshot)
    if found.problem and any((repo / "blobs").glob("*.incomplete")):
        return replace(found, problem="its download was cut short; fetch it again with 'pie model download'")
    return found


def _age(revision: Any) -> float:
    return float(revision.last_modified)


def _at(path: Path, name: str, source: str) -> CachedModel:
    files = _files_of(path)
    return CachedModel(
        name=name,
        path=path,
        revision="",
        size_bytes=_bytes_of(path),
        modified_at=max((file.stat().st_mtime for file in files), default=path.stat().st_mtime),
        suitability=suitability(path) if path.is_dir() else gguf_suitability(path),
        source=source,
    )


def _files_of(path: Path) -> list[Path]:
    return [file for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]


def _bytes_of(path: Path) -> int:
    return sum(file.stat().st_size for file in _files_of(path))
