"""The emulator that kernel tests run on, its builds shared by all workers."""

import sys
import tempfile
from getpass import getuser
from pathlib import Path

import pytest

from pie_mlx.metal.emulator import Builder, Emulator, LaunchReport
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher

BUILD_FOLDER = Path(tempfile.gettempdir()) / f"pie-mlx-emulator-{getuser()}"


BUILD_TIMEOUT_SECONDS = 300
"""A test may be the first to need a dozen kernels built, on a machine that others use."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The emulator is the means of machines without an Apple GPU; a Mac runs the kernels themselves."""
    for item in items:
        if "tests/metal/" not in str(item.path):
            continue
        item.add_marker(pytest.mark.timeout(BUILD_TIMEOUT_SECONDS))
        if sys.platform == "darwin":
            item.add_marker(pytest.mark.skip(reason="the emulator runs on Linux; here: pie doctor --kernels"))


@pytest.fixture(scope="session")
def builder() -> Builder:
    return Builder(BUILD_FOLDER)


@pytest.fixture
def reports() -> list[LaunchReport]:
    return []


@pytest.fixture
def emulator(builder: Builder, reports: list[LaunchReport]) -> Emulator:
    return Emulator(builder, on_launch=reports.append)


@pytest.fixture
def launcher(emulator: Emulator) -> KernelLauncher:
    return emulator_launcher(emulator)
