from tests.server.conftest import server  # noqa: F401 - a fixture
