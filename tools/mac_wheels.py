"""Whether `pip install pie-mlx` finds a wheel of everything on a Mac: `python -m tools.mac_wheels WHEEL`.

For each Python that pie-mlx supports, uv resolves the wheel's dependencies for Apple silicon and macOS 14, and every
package must have a wheel whose tags fit. Prints what is downloaded. Needs uv and PyPI.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

PYTHONS = ((3, 11), (3, 12), (3, 13), (3, 14))
MACOS = (14, 0)
UNWANTED = ("torch", "triton", "xgrammar")
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Resolution:
    """The bytes of each package's wheel by name, and the packages without one that fits."""

    sizes: dict[str, int]
    missing: tuple[str, ...]


def tags(python: tuple[int, int]) -> frozenset[Tag]:
    """What such a Mac takes."""
    platforms = list(mac_platforms(MACOS, "arm64"))
    interpreter = f"cp{python[0]}{python[1]}"
    return frozenset([*cpython_tags(python, platforms=platforms), *compatible_tags(python, interpreter, platforms)])


def resolution(lock: dict[str, Any], python: tuple[int, int]) -> Resolution:
    """Of a lock in pylock.toml's form; packages that come as files, pie-mlx itself, are left out."""
    fitting = tags(python)
    sizes: dict[str, int] = {}
    missing: list[str] = []
    for package in lock["packages"]:
        if "archive" in package:
            continue
        found = [wheel for wheel in package.get("wheels", []) if _tags(wheel) & fitting]
        if found:
            sizes[package["name"]] = max(wheel.get("size", 0) for wheel in found)
        else:
            missing.append(package["name"])
    return Resolution(sizes, tuple(missing))


def _tags(wheel: dict[str, Any]) -> frozenset[Tag]:
    return parse_wheel_filename(wheel.get("name") or wheel["url"].rpartition("/")[2])[3]


def lock(wheel: Path, python: tuple[int, int]) -> dict[str, Any]:
    """What uv resolves. Raises CalledProcessError, having printed why."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pylock.toml"
        command = ["uv", "pip", "compile", "--quiet", "--format=pylock.toml", f"--output-file={file}", "-"]
        command += ["--python-platform=aarch64-apple-darwin", f"--python-version={python[0]}.{python[1]}"]
        environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": f"{MACOS[0]}.{MACOS[1]}"}
        wanted = f"pie-mlx @ {wheel.resolve().as_uri()}\n"
        subprocess.run([*command, "--only-binary=:all:"], input=wanted, text=True, env=environment, check=True)
        return tomllib.loads(file.read_text())


def main(arguments: Sequence[str]) -> int:
    """Print a line for each Python; 1 when anything is missing or unwanted."""
    parser = argparse.ArgumentParser(prog="python -m tools.mac_wheels")
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args(arguments).wheel
    failed = False
    for python in PYTHONS:
        found = resolution(lock(wheel, python), python)
        unwanted = [name for name in UNWANTED if name in found.sizes]
        failed |= bool(found.missing or unwanted)
        largest = sorted(found.sizes, key=found.sizes.__getitem__, reverse=True)[:3]
        print(
            f"Python {python[0]}.{python[1]}: {len(found.sizes)} wheels, {sum(found.sizes.values()) / MIB:.0f} MiB, "
            "largest "
            + ", ".join(f"{name} {found.sizes[name] / MIB:.0f}" for name in largest)
            + "".join(f"; no wheel of {name}" for name in found.missing)
            + "".join(f"; {name} is not wanted" for name in unwanted)
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
