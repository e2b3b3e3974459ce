"""Ownership of program names: which users' programs a name may mean, and which users may change them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from pie_mlx.config.user_names import LOCAL_USER, RESERVED_USER
from pie_mlx.errors import AuthError, ProgramOwnerError
from pie_mlx.runtime.program.semver import Version
from pie_mlx.runtime.store.records import ProgramRecord, Records

RESERVED_NAMES = frozenset({"chat", "openai", "text-completion"})
"""Names of built-in programs. Users cannot install programs under these or similar names."""


@dataclass(frozen=True, slots=True)
class TrustedOwners:
    """The owners whose programs names may mean, for one engine.

    A name means programs of the users it is looked up for and of the `trusted`. None trusts all users: without
    authentication any client can use any user's name.
    """

    trusted: Collection[str] | None = None

    @classmethod
    def of_engine(cls, trusted: Collection[str], *, authenticated: bool) -> Self:
        """The trusted owners of an engine configured to trust these users."""
        return cls(frozenset({LOCAL_USER, RESERVED_USER, *trusted}) if authenticated else None)

    def trust(self, owner: str, users: Collection[str]) -> bool:
        """Whether a name looked up for `users` may mean a program of `owner`."""
        return self.trusted is None or owner in self.trusted or owner in users


TRUST_ALL = TrustedOwners()


@dataclass(frozen=True, slots=True)
class Ownership:
    """Applies the rule to the installed programs. Callers hold `folders.exclusive`."""

    records: Records
    rule: TrustedOwners

    def meant(self, name: str, users: Collection[str], owner: str = "") -> list[Version]:
        """The versions that a name means for the users; only those of `owner`, if given.

        Raises ProgramOwnerError if only others exist.
        """
        versions = self.records.versions(name)
        if self.rule.trusted is None and not owner:
            return versions
        found = [version for version in versions if self._is_meant(name, str(version), users, owner)]
        if versions and not found:
            raise untrusted(name, self._owner(name) or LOCAL_USER)
        return found

    def owner_to_be(self, record: ProgramRecord, *, admin: bool) -> str:
        """The future owner of what `record.owner` installs. Raises ProgramOwnerError."""
        if alike(record.name) in RESERVED_NAMES and record.owner != RESERVED_USER:
            raise _taken(record.name, RESERVED_USER)
        owner = self._owner(record.name) or record.owner
        is_there = self.rule.trust(owner, [record.owner]) and self.records.holds(record)
        if not is_there and not _may_change(record.owner, owner, admin=admin):
            raise _taken(record.name, owner)
        return owner

    def check_rights(self, name: str, version: str, user: str, *, admin: bool) -> None:
        """Raises AuthError if the user may not remove a version."""
        owner = self._owner_of_version(name, version)
        if not _may_change(user, owner, admin=admin):
            raise AuthError("Permission denied", hint=f"{name}@{version} belongs to the user '{owner}'")

    def contested(self) -> list[str]:
        """Versions whose owner is not the owner of their name."""
        return [record.identity for record in self.records.readable() if record.owner != self._owner(record.name)]

    def _is_meant(self, name: str, version: str, users: Collection[str], owner: str) -> bool:
        found = self._owner_of_version(name, version)
        return found == owner if owner else self.rule.trust(found, users)

    def _owner(self, name: str) -> str | None:
        """The owner of a name: of its oldest version; None if the name is free."""
        if alike(name) in RESERVED_NAMES:
            return RESERVED_USER
        versions = self.records.version_names(name)
        found = [self.records.read(name, version) for version in versions]
        records = [record for record in found if isinstance(record, ProgramRecord)]
        if records:
            return min(records, key=lambda record: record.installed_at).owner
        return LOCAL_USER if versions else None

    def _owner_of_version(self, name: str, version: str) -> str:
        """The owner of a version; only administrators own a damaged one."""
        found = self.records.read(name, version)
        return found.owner if isinstance(found, ProgramRecord) else LOCAL_USER


def alike(name: str) -> str:
    """A key that is equal for names of which only one can be installed."""
    return name.casefold().replace("_", "-")


def untrusted(name: str, owner: str) -> ProgramOwnerError:
    """The error for a name that means a program of an untrusted owner."""
    return ProgramOwnerError(
        f"program '{name}' belongs to the user '{owner}', whose programs run only by their full name",
        hint=f"launch '{owner}:{name}', or have '{owner}' added to [auth] trusted_owners of the engine",
        owner=owner,
    )


def _taken(name: str, owner: str) -> ProgramOwnerError:
    whose = "comes with the engine" if owner == RESERVED_USER else f"belongs to the user '{owner}'"
    return ProgramOwnerError(f"program '{name}': the name {whose}", hint="choose another name in Pie.toml", owner=owner)


def _may_change(user: str, owner: str, *, admin: bool) -> bool:
    return admin or user in (owner, LOCAL_USER, RESERVED_USER)
