"""Whether pie-mlx can be installed and run on this machine, and what to do if it cannot.

    python3 -I pie_mlx/supported.py

pip only reports that it finds no MLX. This runs before pip and imports nothing of the package: it must work on Pythons
that are too old for the rest, from 3.6 on.
"""

import os
import platform
import subprocess
import sys
from typing import NamedTuple

PYTHONS = ((3, 11), (3, 15))
"""The first Python that works, and the first newer one that does not."""
OLDEST_MACOS = 14
OLDEST_GLIBC = (2, 35)
MACHINES = {"Darwin": ("arm64",), "Linux": ("x86_64", "aarch64")}
"""Machines that MLX is built for, by system."""


class Machine(NamedTuple):
    """`system` and `machine` as Python calls them, `machine` being that of this Python; `macos` and `glibc` are
    versions, "" elsewhere; `apple_silicon` is of the Mac itself, whatever this Python is built for."""

    python: "tuple[int, int, int]"
    system: str
    machine: str
    macos: str = ""
    apple_silicon: bool = False
    glibc: str = ""


class Obstacle(NamedTuple):
    """What prevents an installation, and the way out."""

    message: str
    hint: str


def platform_obstacle(machine: Machine) -> "Obstacle | None":
    """Why MLX does not run on this system."""
    if machine.system not in MACHINES:
        return Obstacle(f"{machine.system}: pie-mlx does not run here", "use a Mac or Linux")
    if machine.machine not in MACHINES[machine.system]:
        return _wrong_machine(machine)
    if machine.system == "Darwin" and _number(machine.macos)[0] < OLDEST_MACOS:
        return Obstacle(
            f"macOS {machine.macos} is too old: MLX needs macOS {OLDEST_MACOS}",
            "update it in System Settings, General, Software Update: every Mac with Apple silicon can run a newer one",
        )
    if machine.system == "Linux" and _number(machine.glibc) < OLDEST_GLIBC:
        found = f"glibc {machine.glibc} is too old" if machine.glibc else "there is no glibc"
        return Obstacle(f"{found}: MLX needs 2.35", "use a newer distribution, such as Debian 12 or Ubuntu 22.04")
    return None


def python_obstacle(machine: Machine) -> "Obstacle | None":
    """Whether this Python is too old or too new."""
    if PYTHONS[0] <= machine.python[:2] < PYTHONS[1]:
        return None
    return Obstacle(
        f"Python {'.'.join(map(str, machine.python))} is not supported",
        "install Python 3.11 to 3.14" + (", for instance with 'brew install python@3.13'" if machine.macos else ""),
    )


def this_machine() -> Machine:
    """The facts that the system reports."""
    macos = platform.mac_ver()[0]
    if macos:  # wrong for a Python that was built for an older macOS
        macos = _answer("sw_vers", "-productVersion") or macos
    return Machine(
        (sys.version_info.major, sys.version_info.minor, sys.version_info.micro),
        platform.system(),
        platform.machine(),
        macos,
        bool(macos) and _answer("sysctl", "-n", "hw.optional.arm64") == "1",
        _glibc(),
    )


def _wrong_machine(machine: Machine) -> Obstacle:
    found = f"{'macOS' if machine.macos else machine.system} on {machine.machine}"
    if machine.apple_silicon:
        return Obstacle(
            f"{found}: this Python is built for Intel and runs under Rosetta, where MLX does not",
            "use a Python for arm64, such as that of the Homebrew in /opt/homebrew, from a terminal that is not set to "
            "'Open using Rosetta'",
        )
    if machine.macos:
        return Obstacle(f"{found}: MLX needs Apple silicon, and this is an Intel Mac", "use an M1 or newer")
    return Obstacle(f"{found}: MLX is not built for that", "use x86-64 or 64-bit ARM")


def _number(version: str) -> "tuple[int, ...]":
    return tuple(int(part) for part in version.split(".") if part.isdigit()) or (0,)


def _answer(*command: str) -> str:
    """The output of a command, "" if there is no such command."""
    try:
        return subprocess.check_output(command, stderr=subprocess.DEVNULL).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _glibc() -> str:
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").replace("glibc ", "")
    except (AttributeError, ValueError, OSError):
        return ""


def main() -> int:
    """Print what prevents an installation. Returns the exit code."""
    machine = this_machine()
    obstacle = platform_obstacle(machine) or python_obstacle(machine)
    if obstacle is None:
        return 0
    sys.stderr.write(f"pie-mlx: {obstacle.message}\n     try: {obstacle.hint}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
