"""Resolves dependencies to installed versions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pie_mlx.config.user_names import RESERVED_USER, user_name_problem
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program.manifest import Manifest, is_name
from pie_mlx.runtime.program.semver import Requirement, Version

LATEST = "latest"

Versions = Callable[[str], Sequence[Version]]
"""The installed versions of a program, by its name."""
Locked = Callable[[str, str], Mapping[str, str]]
"""The recorded dependencies of an installed program, by its name and version."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """A parsed program identifier. `owner` "" means any trusted user, `version` None the latest."""

    owner: str
    name: str
    version: Version | None


def parse_identifier(text: str) -> Identifier:
    """`name`, `name@latest` or `name@1.2.3`, each also as `owner:name`. Raises LaunchError for anything else."""
    owner, colon, rest = text.rpartition(":")
    name, at, version = rest.partition("@")
    if is_name(name) and not (colon and user_name_problem(owner) and owner != RESERVED_USER):
        if not at or version == LATEST:
            return Identifier(owner, name, None)
        if is_version(version):
            return Identifier(owner, name, Version.parse(version))
    raise LaunchError(
        f"Invalid program identifier '{text}': expected 'name@major.minor.patch'",
        hint="name, name@latest, name@1.2.3 or owner:name, or the path of a .py file, a directory or a .pie package",
    )


def is_version(text: str) -> bool:
    """Whether a text is a version."""
    try:
        Version.parse(text)
    except InvalidArgumentError:
        return False
    return True


def latest(versions: Iterable[Version]) -> Version | None:
    """The highest release, or else the highest pre-release."""
    found = list(versions)
    return max((version for version in found if not version.prerelease), default=max(found, default=None))


def resolve(manifest: Manifest, versions: Versions, locked: Locked) -> dict[str, str]:
    """The version of each dependency: the highest installed one that satisfies its requirement.

    Raises LaunchError, with the chain, for a missing dependency or a cycle.
    """
    chosen = {
        name: str(_highest(manifest.identity, name, requirement, versions(name)))
        for name, requirement in manifest.dependencies.items()
    }
    for name, version in chosen.items():
        _refuse_cycle([manifest.identity, f"{name}@{version}"], locked)
    return chosen


def _highest(wanted_by: str, name: str, requirement: Requirement, versions: Sequence[Version]) -> Version:
    matching = [version for version in versions if requirement.matches(version)]
    if matching:
        return max(matching)
    installed = f"installed: {', '.join(map(str, sorted(versions)))}" if versions else "which is not installed"
    raise LaunchError(
        f"program '{wanted_by}': needs program '{name}' ({requirement.text}), {installed}",
        hint=f"install it first, chain: {wanted_by} -> {name} {requirement.text}",
    )


def _refuse_cycle(chain: list[str], locked: Locked) -> None:
    """Installed programs have no cycles, so a new cycle must pass through the first program."""
    waiting = [chain]
    while waiting:
        path = waiting.pop()
        if path[-1] == path[0]:
            raise LaunchError(
                f"program '{path[0]}': depends on itself: {' -> '.join(path)}",
                hint="take one of these dependencies out",
            )
        name, _, version = path[-1].partition("@")
        waiting += [[*path, f"{inner}@{exact}"] for inner, exact in locked(name, version).items()]
