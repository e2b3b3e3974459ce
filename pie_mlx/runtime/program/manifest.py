"""Pie.toml: what a program is called, how it runs and what it takes."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from pie_mlx.documents import toml_document
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program.findings import nearest, show_value
from pie_mlx.runtime.program.parameters import TYPES, Parameter, Parameters
from pie_mlx.runtime.program.section import Section, Table
from pie_mlx.runtime.program.semver import Requirement, Version

MANIFEST_LIMIT_BYTES = 64 << 10
NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_-]*")
NAME_LIMIT = 64
FINDINGS_LIMIT = 20
"""Further findings add nothing."""

HANDLER = "handle"
"""The function that answers HTTP requests, in programs that can be served as daemons."""

_SECTIONS = ("package", "runtime", "parameters", "dependencies")
_INFORMATIVE_PACKAGE_KEYS = ("license", "keywords", "homepage")
_INFORMATIVE_RUNTIME_KEYS = ("core", "mcp", "python-runtime")


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """How a program is started. `entry` names a function of main.py; `call` is how it takes its input. If it
    `shows_tokens`, who may see its output may watch it draw them."""

    entry: str = "main"
    call: str = "input"
    inferlet: Requirement | None = None
    packages: tuple[str, ...] = ()
    shows_tokens: bool = True


@dataclass(frozen=True, slots=True)
class Manifest:
    """The identity of a program, and what it requires of its launcher."""

    name: str
    version: Version
    description: str = ""
    authors: tuple[str, ...] = ()
    repository: str = ""
    readme: str = ""
    exclude: tuple[str, ...] = ()
    runtime: RuntimeSettings = RuntimeSettings()
    parameters: Parameters = field(default_factory=Parameters)
    dependencies: Mapping[str, Requirement] = field(default_factory=dict[str, Requirement])

    @property
    def identity(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"

    @property
    def answers_requests(self) -> bool:
        """Whether it can only be served on a port, not launched with an input."""
        return self.runtime.entry == HANDLER and self.runtime.call != "http"


def parse_manifest(text: str) -> Manifest:
    """Raises LaunchError that lists every mistake."""
    manifest, findings = examine_manifest(text)
    if manifest is None:
        raise LaunchError(f"Invalid manifest: {'; '.join(findings)}", hint="correct Pie.toml; see 'pie check'")
    return manifest


def examine_manifest(text: str) -> tuple[Manifest | None, list[str]]:
    """The manifest, or None, and every mistake in it."""
    if len(text.encode()) > MANIFEST_LIMIT_BYTES:
        return None, [f"longer than {MANIFEST_LIMIT_BYTES >> 10} KiB"]
    try:
        document = toml_document(text)
    except InvalidArgumentError as error:
        return None, [error.message]
    findings: list[str] = []
    manifest = _read(document, findings)
    return (None if findings else manifest), _first(findings)


def _first(findings: list[str]) -> list[str]:
    more = len(findings) - FINDINGS_LIMIT
    return findings if more <= 0 else [*findings[:FINDINGS_LIMIT], f"and {more:,} more"]


def _read(document: Table, findings: list[str]) -> Manifest:
    sections = {name: _section(document, name, findings) for name in _SECTIONS}
    findings += [f"[{key}]: unknown section{nearest(key, _SECTIONS)}" for key in document if key not in _SECTIONS]
    package = sections["package"]
    runtime, enforced, extra_allowed = _runtime(sections["runtime"])
    declared = _parameters(sections["parameters"], enforced)
    manifest = Manifest(
        name=_name(package),
        version=_version(package),
        description=package.text("description"),
        authors=package.texts("authors"),
        repository=package.text("repository"),
        readme=package.text("readme"),
        exclude=package.texts("exclude"),
        runtime=runtime,
        parameters=Parameters(declared, enforced and "parameters" in document, extra_allowed),
        dependencies=_dependencies(sections["dependencies"]),
    )
    package.finish(*_INFORMATIVE_PACKAGE_KEYS)
    return manifest


def _section(document: Table, name: str, findings: list[str]) -> Section:
    table = document.get(name, {})
    if not isinstance(table, dict):
        findings.append(f"[{name}]: expected a table, got {show_value(table)}")
        table = {}
    return Section(name, cast("Table", table), findings)


def _name(package: Section) -> str:
    name = package.text("name")
    if "name" not in package:
        package.report("name", "missing")
    elif isinstance(package.value("name"), str) and not is_name(name):
        package.report("name", f"{name!r} is not a valid name: use letters, digits, '-' and '_', at most {NAME_LIMIT}")
    return name


def is_name(text: str) -> bool:
    """Whether a program may have this name."""
    return len(text) <= NAME_LIMIT and NAME.fullmatch(text) is not None


def _version(package: Section) -> Version:
    text = package.text("version")
    if "version" not in package:
        package.report("version", "missing")
    elif text:
        try:
            return Version.parse(text)
        except InvalidArgumentError as error:
            package.report("version", error.message)
    return Version((0, 0, 0))


def _runtime(section: Section) -> tuple[RuntimeSettings, bool, bool]:
    _one_of(section, "language", ("python",))
    entry = section.text("entry", "main")
    if not entry.isidentifier():
        section.report("entry", f"{entry!r} is not the name of a function")
    settings = RuntimeSettings(
        entry=entry,
        call=_one_of(section, "call", ("input", "kwargs")),
        inferlet=_requirement(section, "inferlet"),
        packages=section.texts("packages"),
        shows_tokens=section.flag("show_tokens", True),
    )
    # Manifests written for other engines declare parameters as documentation; refusing inputs by them breaks programs.
    foreign = "core" in section or settings.call == "kwargs"
    enforced = section.flag("validate", not foreign)
    extra_allowed = section.flag("extra_parameters", False)
    section.finish(*_INFORMATIVE_RUNTIME_KEYS)
    return settings, enforced, extra_allowed


def _one_of(section: Section, key: str, choices: tuple[str, ...]) -> str:
    value = section.text(key, choices[0])
    if value not in choices:
        section.report(key, f"expected {' or '.join(choices)}, got {value!r}")
    return value


def _requirement(section: Section, key: str) -> Requirement | None:
    text = section.text(key)
    if not text:
        return None
    try:
        return Requirement.parse(text)
    except InvalidArgumentError as error:
        section.report(key, error.message)
        return None


def _dependencies(section: Section) -> dict[str, Requirement]:
    found: dict[str, Requirement] = {}
    for name in section.entries():
        if not is_name(name):
            section.report(name, "not the name of a program")
        if (requirement := _requirement(section, name)) is not None:
            found[name] = requirement
    return found


def _parameters(section: Section, enforced: bool) -> dict[str, Parameter]:
    declared: dict[str, Parameter] = {}
    for name, table in section.entries().items():
        if isinstance(table, dict):
            declared[name] = _parameter(name, section.child(name, cast("Table", table)), enforced)
        else:
            section.report(name, f'expected a table such as {{ type = "string" }}, got {show_value(table)}')
    return declared


def _parameter(name: str, section: Section, enforced: bool) -> Parameter:
    kind = section.text("type", "any")
    if kind not in TYPES and enforced:
        section.report("type", f"{kind!r} is none of {', '.join(TYPES)}{nearest(kind, TYPES)}")
    parameter = Parameter(
        name=name,
        type=kind if kind in TYPES else "any",
        optional=section.flag("optional", False),
        has_default="default" in section,
        default=section.value("default"),
        description=section.text("description"),
        choices=section.items("choices"),
        low=section.number("min"),
        high=section.number("max"),
    )
    if enforced:
        _check_parameter(parameter, section)
    section.finish()
    return parameter


def _check_parameter(parameter: Parameter, section: Section) -> None:
    if parameter.has_default and (problem := parameter.problem(parameter.default) or _json_problem(parameter.default)):
        section.report("default", problem)
    if parameter.low is not None and parameter.high is not None and parameter.low > parameter.high:
        section.report("min", f"{parameter.low:g} is above max {parameter.high:g}")


def _json_problem(value: object) -> str:
    """Why a TOML value cannot be an input: JSON has no dates or infinite numbers, nested ones included."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return "JSON has no such value"
    return ""


def inline_manifest(source: str, comment: str = "#") -> str | None:
    """The TOML between `# /// pie` and `# ///`, None without such a block; `comment` begins a comment of the language.

    Raises LaunchError for a broken one.
    """
    opening, closing = f"{comment} /// pie", f"{comment} ///"
    lines = [line.rstrip() for line in source.splitlines()]
    openings = lines.count(opening)
    if openings == 0:
        return None
    if openings > 1:
        raise LaunchError(f"Invalid manifest: two '{opening}' blocks", hint="keep one of them")
    block = lines[lines.index(opening) + 1 :]
    comments = block[: _comment_length(block, comment)]
    if closing not in comments:
        raise LaunchError(
            f"Invalid manifest: the '{opening}' block does not end", hint=f"close it with a line '{closing}'"
        )
    return "\n".join(line[len(comment) + 1 :] for line in comments[: comments.index(closing)])


def _comment_length(lines: list[str], comment: str) -> int:
    ends = (i for i, line in enumerate(lines) if line != comment and not line.startswith(f"{comment} "))
    return next(ends, len(lines))
