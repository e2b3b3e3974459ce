"""Environment variables and configuration, without the values that may be private."""

import re
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pie_mlx.cli.doctor.report.redaction import HIDDEN
from pie_mlx.config import Setting, config_file, load_config
from pie_mlx.config.schema import KEYS, key_of
from pie_mlx.documents import toml_document
from pie_mlx.errors import InvalidArgumentError, PieError

PUBLIC_VARIABLES = ("MLX_", "PIE_METAL", "PIE_FAST_BLAS", "OMP_", "OPENBLAS_")
"""Prefixes of variables whose values are reported."""
NAMED_VARIABLES = ("PIE_", "HF_", "PYTHON")
"""Prefixes of variables that are only reported as set."""
NAMES_OF_MODELS = ("hf_repo", "name", "revision", "draft_model")
_SECRET_NAME = re.compile(r"^PIE_|KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|URL|PROXY", re.IGNORECASE)


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that matter here, by name."""
    found = {name: value for name, value in sorted(environment.items()) if name.startswith(PUBLIC_VARIABLES)}
    return {name: HIDDEN for name in sorted(environment) if name.startswith(NAMED_VARIABLES)} | found


def configuration(file: Path | None, environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Every value that is not the default; values that may be private are hidden. Raises ConfigError."""
    return {
        path: {"value": setting.value if _is_public(path, setting.value) else HIDDEN, "origin": setting.origin}
        for path, setting in _own_settings(file, environment).items()
    }


def secrets(file: Path | None, environment: Mapping[str, str]) -> frozenset[str]:
    """Texts that must not appear in a report: from variables, and from the configuration even if it is invalid."""
    named = {value for name, value in environment.items() if _is_secret(name)}
    try:
        own = _own_settings(file, environment)
        values = [setting.value for path, setting in own.items() if not _is_public(path, setting.value)]
    except PieError:
        values = [part for name, part in _document(file, environment).items() if name != "model"]
    return frozenset({*named, *_texts(values)} - _choices())


def _own_settings(file: Path | None, environment: Mapping[str, str]) -> dict[str, Setting]:
    settings = load_config(file, environment).settings
    return {path: setting for path, setting in settings.items() if setting.origin != "default"}


def _is_secret(variable: str) -> bool:
    return bool(_SECRET_NAME.search(variable)) and not variable.startswith(PUBLIC_VARIABLES)


def _is_public(path: str, value: object) -> bool:
    """Numbers, switches, choices and names of models."""
    if value is None or isinstance(value, bool | int | float):
        return True
    numbered = ".".join("0" if part.isdigit() else part for part in path.split("."))
    if numbered.startswith("model.") and numbered.endswith(NAMES_OF_MODELS):
        return True
    key = key_of(numbered)
    return key is not None and bool(_choices_of(key.type))


def _document(file: Path | None, environment: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        return toml_document((file or config_file(environment)).read_text(encoding="utf-8"))
    except (OSError, ValueError, InvalidArgumentError):
        return {}


def _choices() -> set[str]:
    return {choice for key in KEYS.values() for choice in _choices_of(key.type)}


def _choices_of(hint: Any) -> set[str]:
    parts = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        return set(map(str, parts))
    return {choice for part in parts for choice in _choices_of(part)}


def _texts(value: Any) -> Iterator[str]:
    """All texts in nested lists and tables."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(list(cast("Mapping[str, Any]", value).values()))
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _texts(each)
