from pathlib import Path

import pytest

from tests.examples.stage import Stage


def pytest_collection_modifyitems(items):
    """Programs that decode hundreds of tokens may take long on a machine that does much else."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(180))


@pytest.fixture(scope="session")
def stage(tmp_path_factory):
    """One engine for all examples."""
    stage = Stage(tmp_path_factory.mktemp("scratch"))
    yield stage.open()
    stage.close()


@pytest.fixture
def play(stage):
    return stage.play
