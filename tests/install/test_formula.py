"""The Homebrew formula that is written for a release."""

import hashlib
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

import pie_mlx
from tests.docs.pages import ROOT
from tools.formula import formula

RELEASE = "https://files.example"


def written(wheel: Path) -> str:
    return formula(wheel, f"{RELEASE}/{wheel.name}", "https://pie.example")


def test_it_fetches_the_wheel_that_was_built(wheel: Path) -> None:
    text = written(wheel)
    assert f'url "{RELEASE}/{wheel.name}", using: :nounzip' in text
    assert f'sha256 "{hashlib.sha256(wheel.read_bytes()).hexdigest()}"' in text
    assert f'version "{pie_mlx.__version__}"' in text
    assert not re.search(r"@[A-Z0-9]+@", text)


def test_its_python_is_one_that_pie_mlx_takes(wheel: Path) -> None:
    supported = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    (version,) = set(re.findall(r"python@(3\.\d+)", written(wheel)))
    assert version in SpecifierSet(supported)


def test_an_address_of_another_file_is_refused(wheel: Path) -> None:
    with pytest.raises(ValueError, match="is not the address of"):
        formula(wheel, f"{RELEASE}/pie_mlx-9.9.9-py3-none-any.whl", "https://pie.example")


@pytest.mark.skipif(not shutil.which("ruby"), reason="ruby is not here")
def test_ruby_can_read_it(wheel: Path) -> None:
    checked = subprocess.run(["ruby", "-wc"], input=written(wheel), capture_output=True, text=True)
    assert (checked.stdout.strip(), checked.stderr) == ("Syntax OK", "")
