"""Versions of programs (SemVer 2.0.0 without build metadata) and requirements on them."""

import re
from dataclasses import dataclass
from functools import total_ordering

from pie_mlx.errors import InvalidArgumentError

_NUMBER = r"(?:0|[1-9]\d*)"
_IDENTIFIER = rf"(?:{_NUMBER}|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?")
_COMPARATOR = re.compile(r"(\^|~|>=|<=|>|<|=)?\s*(\S+)")
_VERSION_LIMIT, _REQUIREMENT_LIMIT = 128, 1024
"""Characters. A version becomes a folder's name, and its numbers are formatted again."""

Triple = tuple[int, int, int]


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """`major.minor.patch`, with the dotted identifiers of a pre-release if there are any."""

    triple: Triple
    prerelease: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str) -> "Version":
        """Raises InvalidArgumentError for anything but SemVer, and for build metadata."""
        if len(text) > _VERSION_LIMIT:
            raise InvalidArgumentError(f"a version of more than {_VERSION_LIMIT} characters", hint="write 0.1.0")
        match = _VERSION.fullmatch(text)
        if match is None:
            why = "build metadata is not supported" if "+" in text else "expected major.minor.patch"
            raise InvalidArgumentError(f"{text!r} is not a version: {why}", hint="write 0.1.0 or 1.0.0-beta.1")
        major, minor, patch, prerelease = match.groups()
        return Version((int(major), int(minor), int(patch)), tuple(prerelease.split(".")) if prerelease else ())

    def __str__(self) -> str:
        release = ".".join(str(number) for number in self.triple)
        return f"{release}-{'.'.join(self.prerelease)}" if self.prerelease else release

    def __lt__(self, other: "Version") -> bool:
        return self._order() < other._order()

    def _order(self) -> tuple[Triple, bool, list[tuple[bool, int, str]]]:
        identifiers = [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in self.prerelease]
        return self.triple, not self.prerelease, identifiers


@dataclass(frozen=True, slots=True)
class Comparator:
    """One bound: an operator of `=`, `>`, `>=`, `<`, `<=` and a version."""

    operator: str
    version: Version

    def holds(self, version: Version) -> bool:
        match self.operator:
            case "=":
                return version == self.version
            case ">":
                return version > self.version
            case ">=":
                return version >= self.version
            case "<":
                return version < self.version
            case _:
                return version <= self.version


@dataclass(frozen=True, slots=True)
class Requirement:
    """Bounds that must all hold. A pre-release matches only if a bound names a pre-release of the same triple."""

    text: str
    comparators: tuple[Comparator, ...]

    @staticmethod
    def parse(text: str) -> "Requirement":
        """`1.2.3` and `=1.2.3`, `^1.2.3`, `~1.2.3`, `>= > <= <` joined by commas, and `*`.

        Raises InvalidArgumentError for anything else.
        """
        if len(text) > _REQUIREMENT_LIMIT:
            raise InvalidArgumentError(
                f"a requirement of more than {_REQUIREMENT_LIMIT:,} characters", hint="write ^0.1.0"
            )
        if text.strip() == "*":
            return Requirement(text, ())
        return Requirement(text, tuple(bound for part in text.split(",") for bound in _bounds(part, text)))

    def matches(self, version: Version) -> bool:
        named = {bound.version.triple for bound in self.comparators if bound.version.prerelease}
        if version.prerelease and version.triple not in named:
            return False
        return all(bound.holds(version) for bound in self.comparators)


def _bounds(part: str, whole: str) -> list[Comparator]:
    match = _COMPARATOR.fullmatch(part.strip())
    if match is None:
        raise InvalidArgumentError(
            f"requirement {whole!r}: {part.strip()!r} is not a bound",
            hint="write something like ^1.2.3 or >=1.0.0, <2.0.0",
        )
    operator, version = match[1] or "=", Version.parse(match[2])
    if operator in "^~":
        return [Comparator(">=", version), Comparator("<", Version(_upper_end(operator, version.triple)))]
    return [Comparator(operator, version)]


def _upper_end(operator: str, triple: Triple) -> Triple:
    major, minor, patch = triple
    if operator == "~" or (major == 0 and minor > 0):
        return major, minor + 1, 0
    return (major + 1, 0, 0) if major else (0, 0, patch + 1)
