"""What `pip install` of the built wheel puts on a machine, and asks for beside it."""

import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import pie_mlx
from tests.docs.pages import ROOT
from tools.mac_wheels import resolution

MAC = {"sys_platform": "darwin", "platform_machine": "arm64", "extra": ""}
LINUX = {"sys_platform": "linux", "platform_machine": "x86_64", "extra": ""}


def about(wheel: Path, file: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"pie_mlx-{pie_mlx.__version__}.dist-info/{file}").decode()


def required(wheel: Path, environment: dict[str, str]) -> dict[str, Requirement]:
    lines = Parser().parsestr(about(wheel, "METADATA")).get_all("Requires-Dist") or []
    found = [Requirement(line) for line in lines]
    return {one.name: one for one in found if one.marker is None or one.marker.evaluate(environment)}


def test_every_file_of_the_package_is_in_it_and_nothing_else(wheel: Path) -> None:
    here = {
        str(path.relative_to(ROOT))
        for package in ("inferlet", "pie_mlx")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == here


def test_it_brings_the_command_and_the_licence(wheel: Path) -> None:
    assert "pie = pie_mlx.cli.script:main" in about(wheel, "entry_points.txt")
    assert "Apache License" in about(wheel, "licenses/LICENSE")


def test_it_asks_for_the_same_on_a_mac_as_on_linux(wheel: Path) -> None:
    mac, linux = required(wheel, MAC), required(wheel, LINUX)
    assert mac.keys() == linux.keys()
    assert (mac["mlx"].extras, linux["mlx"].extras) == (set(), {"cpu"})


@pytest.mark.parametrize("environment", [MAC, LINUX])
def test_nothing_that_it_asks_for_brings_torch(wheel: Path, environment: dict[str, str]) -> None:
    waiting, seen = list(required(wheel, environment).values()), set[str]()
    while waiting:
        one = waiting.pop()
        if one.name.lower() in seen:
            continue
        seen.add(one.name.lower())
        try:
            lines = metadata.requires(one.name) or []
        except metadata.PackageNotFoundError:  # of the other system
            continue
        inner = [Requirement(line) for line in lines]
        for extra in ("", *one.extras):
            waiting += [r for r in inner if r.marker is None or r.marker.evaluate({**environment, "extra": extra})]
    assert len(seen) > 30
    assert not seen & {"torch", "triton", "xgrammar"}


def test_a_program_runs_from_it(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    (tmp_path / "here.py").write_text("import pie_mlx\n\nasync def main(input):\n    return pie_mlx.__file__\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PIE_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "pie_mlx", "run", "here.py", "--dummy"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(str(tmp_path / "site" / "pie_mlx"))


def package(name: str, *files: str) -> dict:
    return {"name": name, "wheels": [{"url": f"https://files.example/{file}", "size": 5} for file in files]}


def test_a_package_that_a_mac_has_no_wheel_of_is_named() -> None:
    lock = {
        "packages": [
            {"name": "pie-mlx", "archive": {"path": "pie_mlx.whl"}},
            package("pure", "pure-1-py3-none-any.whl"),
            package("fits", "fits-1-cp311-abi3-macosx_11_0_arm64.whl", "fits-1-cp311-abi3-win_amd64.whl"),
            package("late", "late-1-cp312-cp312-macosx_15_0_arm64.whl"),
            package("intel", "intel-1-cp312-cp312-macosx_11_0_x86_64.whl"),
            package("other", "other-1-cp313-cp313-macosx_14_0_arm64.whl"),
        ]
    }
    found = resolution(lock, (3, 12))
    assert found.sizes == {"pure": 5, "fits": 5}
    assert found.missing == ("late", "intel", "other")
