"""Which files of the package code passes through, in the order of the first call; and which files a page names."""

import gc
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sys import setprofile
from types import FrameType
from typing import Any

import pie_mlx
from tests.docs.pages import ROOT

PACKAGE = Path(pie_mlx.__file__).parent
SDK = PACKAGE.parent / "inferlet"


def in_packages(file: Path) -> Path | None:
    """The path of a file of the packages as the map writes it; None for any other file."""
    root = next((root for root, package in ((PACKAGE, PACKAGE), (ROOT, SDK)) if file.is_relative_to(package)), None)
    return file.relative_to(root) if root else None


class FileTrace:
    """Follows all threads that start inside of `attached`, and the present one, while it is `recording`."""

    def __init__(self) -> None:
        self.recording = False
        self._files: dict[str, None] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        # Importing is no step of anything: it happens once.
        if self.recording and event == "call" and frame.f_code.co_name != "<module>":
            self._files[frame.f_code.co_filename] = None

    @contextmanager
    def attached(self) -> Iterator[None]:
        gc.disable()  # the SDK is called by each collection, which comes at any time
        threading.setprofile(self)
        setprofile(self)
        try:
            yield
        finally:
            gc.enable()
            setprofile(None)
            threading.setprofile(None)  # pyright: ignore[reportArgumentType]

    @property
    def files(self) -> list[str]:
        """Relative to the package, and those of `inferlet` relative to the checkout."""
        return [path.as_posix() for file in self._files if (path := in_packages(Path(file)))]


def section(heading: str) -> str:
    """The text below a heading of the map, without the headings below that one."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.split(r"^##+ ", page.partition(f"## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def named(text: str) -> Iterator[str]:
    """The files of a text, of which `folder/{a,b}.py` names two."""
    for folder, names, name in re.findall(r"`([a-z_/]*)(?:\{([a-z_,]+)\}|([a-z_]+))\.py`", text):
        yield from (f"{folder}{each}.py" for each in (names or name).split(","))


def steps(heading: str) -> str:
    """The numbered list of a section."""
    return section(heading).partition("\n1. ")[2].partition("\n\n")[0]


def missing(files: list[str], *headings: str) -> list[str]:
    """Those of `files` that none of these sections names, in order. Backends differ from machine to machine."""
    known = {file for heading in headings for file in named(section(heading))}
    return [file for file in files if file not in known and not file.startswith("backends/")]
