import pytest

from pie_mlx.runtime.store import ProgramStore
from tests.runtime.store.programs import Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def store(home, clock):
    return ProgramStore(home, clock=clock)
