"""The paths that a package may contain."""

import unicodedata
from pathlib import PurePosixPath

from pie_mlx.errors import LaunchError

PATH_LIMIT_BYTES = 1024
NAME_LIMIT_BYTES = 255


class EntryNames:
    """The paths of one package, distinct even on file systems that ignore case and normalization."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}
        self._files: dict[str, str] = {}

    def check_and_add(self, path: str, *, folder: bool) -> None:
        """Raises LaunchError that names an invalid path, or one that conflicts with an earlier path."""
        if why := path_problem(path):
            raise refused(path, why)
        for parent in reversed(PurePosixPath(path).parents[:-1]):
            self._add_folder(str(parent), path)
        if folder:
            self._add_folder(path, path)
        else:
            self._add_file(path)

    def _add_folder(self, folder: str, path: str) -> None:
        key = folded(folder)
        if key in self._files:
            raise refused(path, f"{self._files[key]!r} is a file")
        if self._folders.setdefault(key, folder) != folder:
            raise refused(path, f"the same as {self._folders[key]!r} on file systems that ignore case")

    def _add_file(self, path: str) -> None:
        key = folded(path)
        if key in self._folders:
            raise refused(path, f"{self._folders[key]!r} is a directory")
        if key in self._files:
            raise refused(path, f"the same as {self._files[key]!r} on file systems that ignore case")
        self._files[key] = path


def folded(path: str) -> str:
    """A path as a file system sees it that ignores case and normalization."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def path_problem(path: str) -> str:
    """Why a package may not contain this path, or ""."""
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in path):
        return "a control character"
    if "\\" in path:
        return "a backslash"
    if path.startswith("/"):
        return "an absolute path"
    parts = path.split("/")
    if ".." in parts:
        return "'..' leaves the package"
    if "" in parts or "." in parts:
        return "an empty name"
    return _length_problem(path, parts)


def _length_problem(path: str, parts: list[str]) -> str:
    if len(path.encode()) > PATH_LIMIT_BYTES:
        return f"longer than {PATH_LIMIT_BYTES} bytes"
    if any(len(part.encode()) > NAME_LIMIT_BYTES for part in parts):
        return f"a name longer than {NAME_LIMIT_BYTES} bytes"
    return ""


def refused(path: str, why: str) -> LaunchError:
    """The error for one entry of a package."""
    shown = path if len(path) <= 200 else f"{path[:200]}..."
    return LaunchError(f"package: entry {shown!r}: {why}", hint="make it again with 'pie build'")
