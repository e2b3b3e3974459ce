import pytest

from tests.examples.stage import Stage


@pytest.fixture(scope="session")
def stage(tmp_path_factory):
    """One engine for all programs."""
    stage = Stage(tmp_path_factory.mktemp("scratch"))
    yield stage.open()
    stage.close()
