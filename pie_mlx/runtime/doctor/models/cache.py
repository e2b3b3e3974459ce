"""The Hugging Face cache, and the models embedded in the package."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pie_mlx.engine.model.loading.sources import EMBEDDED
from pie_mlx.errors import ModelNotFoundError
from pie_mlx.runtime.doctor.models.loadable import Suitability, suitability


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model on this disk. `modified_at` is Unix time; only models of the cache have a revision."""

    name: str
    directory: Path
    revision: str
    size_bytes: int
    modified_at: float
    suitability: Suitability

    @property
    def embedded(self) -> bool:
        return self.directory.parent == EMBEDDED


def embedded_models() -> list[CachedModel]:
    """The models embedded in the package."""
    return [_in_directory(file.parent, file.parent.name) for file in sorted(EMBEDDED.glob("*/config.json"))]


def cached_models() -> list[CachedModel]:
    """The models of the cache, by name, each in the revision that is loaded: `main`, or else the newest."""
    repos = [repo for repo in _repos() if repo.repo_type == "model" and repo.revisions]
    return [_cached(repo) for repo in sorted(repos, key=lambda repo: repo.repo_id.casefold())]


def find_on_disk(name: str) -> CachedModel:
    """A model of the cache or the package, or the one in the directory `name`. Raises ModelNotFoundError."""
    directory = Path(name).expanduser()  # an empty name would mean the current directory
    return _in_directory(directory, name) if name and directory.is_dir() else find_cached(name)


def find_cached(name: str) -> CachedModel:
    """Raises ModelNotFoundError."""
    for model in (*embedded_models(), *cached_models()):
        if model.name == name:
            return model
    raise ModelNotFoundError(
        f"model: {name or 'an empty name'} is not on this disk", hint="'pie model list' shows what is"
    )


def remove_cached(name: str) -> int:
    """Remove a model with all its revisions from the cache; returns the bytes freed. Raises ModelNotFoundError."""
    if find_cached(name).embedded:
        raise ModelNotFoundError(f"model: {name} is part of pie-mlx", hint="only downloaded models can be removed")
    info = _scan()
    revisions = [
        r.commit_hash
        for repo in info.repos
        if repo.repo_id == name and repo.repo_type == "model"
        for r in repo.revisions
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


def _cached(repo: Any) -> CachedModel:
    revisions = sorted(repo.revisions, key=_age)
    chosen = next((revision for revision in revisions if "main" in revision.refs), revisions[-1])
    return CachedModel(
        name=repo.repo_id,
        directory=Path(chosen.snapshot_path),
        revision=chosen.commit_hash,
        size_bytes=repo.size_on_disk,
        modified_at=repo.last_modified,
        suitability=_suitability(Path(chosen.snapshot_path), Path(repo.repo_path)),
    )


def _suitability(snapshot: Path, repo: Path) -> Suitability:
    found = suitability(snapshot)
    if found.problem and any((repo / "blobs").glob("*.incomplete")):
        return replace(found, problem="its download was cut short; fetch it again with 'pie model download'")
    return found


def _age(revision: Any) -> float:
    return float(revision.last_modified)


def _in_directory(directory: Path, name: str) -> CachedModel:
    files = [file.stat() for file in directory.rglob("*") if file.is_file()]
    return CachedModel(
        name=name,
        directory=directory,
        revision="",
        size_bytes=sum(file.st_size for file in files),
        modified_at=max((file.st_mtime for file in files), default=directory.stat().st_mtime),
        suitability=suitability(directory),
    )
