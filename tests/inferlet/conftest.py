"""An engine double for each test, and the model it has loaded."""

from collections.abc import Iterator

import pytest

from inferlet import Context, Model
from inferlet._calls.host import use_host
from tests.inferlet.toy_host import ToyHost


@pytest.fixture
def host() -> ToyHost:
    return ToyHost()


@pytest.fixture
def model(host: ToyHost) -> Iterator[Model]:
    with use_host(host):
        yield Model.load("toy")


@pytest.fixture
def ctx(model: Model) -> Context:
    return Context(model)
