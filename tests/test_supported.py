"""What keeps pie-mlx from being installed, and the way out: said before pip says that it finds no MLX."""

import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from pie_mlx import supported
from pie_mlx.supported import Machine, platform_obstacle, python_obstacle, this_machine

ROOT = Path(__file__).parents[1]
MAC = Machine((3, 12, 1), "Darwin", "arm64", "15.1", apple_silicon=True)
LINUX = Machine((3, 12, 1), "Linux", "x86_64", glibc="2.36")


@pytest.mark.parametrize(
    "machine",
    [
        *(MAC, LINUX, MAC._replace(macos="14.0"), MAC._replace(macos="26.1"), LINUX._replace(machine="aarch64")),
        LINUX._replace(glibc="2.35"),
    ],
)
def test_nothing_is_in_the_way_where_mlx_is_built_for_the_machine(machine):
    assert platform_obstacle(machine) is None


@pytest.mark.parametrize(
    ("machine", "what", "way_out"),
    [
        (MAC._replace(macos="13.6"), "macOS 13.6 is too old: MLX needs macOS 14", "Software Update"),
        (MAC._replace(machine="x86_64", apple_silicon=False), "this is an Intel Mac", "use an M1 or newer"),
        (MAC._replace(machine="x86_64"), "runs under Rosetta", "Python for arm64"),
        (MAC._replace(machine="x86_64", macos="13.6"), "runs under Rosetta", "Python for arm64"),
        (LINUX._replace(machine="riscv64"), "Linux on riscv64: MLX is not built for that", "x86-64"),
        (LINUX._replace(glibc="2.31"), "glibc 2.31 is too old: MLX needs 2.35", "Debian 12"),
        (LINUX._replace(glibc=""), "there is no glibc", "Debian 12"),
        (LINUX._replace(system="Windows", machine="AMD64"), "Windows: pie-mlx does not run here", "use a Mac or Linux"),
    ],
)
def test_what_is_in_the_way_is_named_with_the_way_out(machine, what, way_out):
    obstacle = platform_obstacle(machine)
    assert what in obstacle.message
    assert way_out in obstacle.hint


@pytest.mark.parametrize(
    ("python", "works"), [((3, 10, 9), False), ((3, 11, 0), True), ((3, 14, 2), True), ((3, 15, 0), False)]
)
def test_python_must_be_one_that_pie_mlx_is_made_for(python, works):
    assert (python_obstacle(MAC._replace(python=python)) is None) == works


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the wheel for Linux")
def test_the_glibc_asked_for_is_the_one_that_mlx_is_built_for():
    tags = metadata.distribution("mlx").read_text("WHEEL")
    assert f"-manylinux_{'_'.join(map(str, supported.OLDEST_GLIBC))}_{this_machine().machine}" in tags


def test_this_machine_is_one_that_works():
    assert platform_obstacle(this_machine()) is None
    assert python_obstacle(this_machine()) is None


COMMANDS = {"sw_vers": "26.1", "sysctl": "1"}


def test_the_system_is_asked_for_its_version_where_python_has_an_old_one(monkeypatch, tmp_path):
    commands(tmp_path, COMMANDS)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("platform.mac_ver", lambda: ("10.16", ("", "", ""), "x86_64"))
    found = this_machine()
    assert (found.macos, found.apple_silicon) == ("26.1", True)


def commands(folder, answers):
    """Commands that print their answers."""
    for name, answer in answers.items():
        file = folder / name
        file.write_text(f"#!/bin/sh\necho {answer}\n")
        file.chmod(0o755)


OTHER_PYTHONS = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))


@pytest.mark.parametrize("python", OTHER_PYTHONS or [sys.executable])
def test_it_is_asked_by_any_python_from_3_6_on(python):
    ended = subprocess.run([python, "-I", ROOT / "pie_mlx/supported.py"], capture_output=True, text=True)
    version = subprocess.run([python, "-V"], capture_output=True, text=True).stdout.split()[1]
    works = (3, 11) <= tuple(map(int, version.split(".")[:2])) < (3, 15)
    assert ended.returncode == (0 if works else 1)
    assert ended.stderr == (
        "" if works else f"pie-mlx: Python {version} is not supported\n     try: install Python 3.11 to 3.14\n"
    )


AN_INTEL_MAC = """#!{shell}
exec {python} -c '
import platform, runpy, sys
platform.system, platform.machine = lambda: "Darwin", lambda: "x86_64"
platform.mac_ver = lambda: ("13.6", ("", "", ""), "x86_64")
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
' "$@"
"""


@pytest.mark.parametrize("python", [[], ["PYTHON=python3"]], ids=["found", "named"])
def test_make_says_so_before_it_makes_an_environment(tmp_path, python):
    commands(tmp_path, {"sw_vers": "13.6", "sysctl": "0"})
    for name in ("python3", *(f"python3.{minor}" for minor in range(11, 15)), "python"):
        file = tmp_path / name
        file.write_text(AN_INTEL_MAC.format(shell=shutil.which("sh"), python=sys.executable))
        file.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = ["make", "-C", ROOT, "demo", f"VENV={tmp_path}/venv", *python]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode != 0
    assert "this is an Intel Mac\n     try: use an M1 or newer" in ended.stderr
    assert not (tmp_path / "venv").exists()
