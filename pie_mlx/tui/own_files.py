"""Files that users write for the monitor, in TOML."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pie_mlx.documents import toml_document
from pie_mlx.errors import InvalidArgumentError


def own_file(path: Path) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The content of a file, and the problem if it cannot be read: the monitor starts anyway."""
    try:
        return toml_document(path.read_text(encoding="utf-8")), ()
    except OSError as error:
        return {}, (f"{path}: {error.strerror}",)
    except (UnicodeDecodeError, InvalidArgumentError) as error:
        return {}, (f"{path}: {error}",)
