import io
from dataclasses import dataclass

import pytest

from pie_mlx.cli.main import execute


@dataclass
class Ended:
    """What a command line left behind."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """A `$PIE_HOME` of the test's own."""
    path = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("PIE_HOME", str(path))
    return path


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self):
        return True


@pytest.fixture
def answer(monkeypatch):
    """Answers the questions of what is run next."""
    return lambda text: monkeypatch.setattr("sys.stdin", Terminal(text))


@pytest.fixture
def pie(capsys):
    """Runs a command line in this process."""

    def pie(*words):
        code = execute([str(word) for word in words])
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return pie
