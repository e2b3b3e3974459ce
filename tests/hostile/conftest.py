import json
from pathlib import Path

import pytest

pytest.register_assert_rewrite("tests.hostile.target")  # so that failures show figures

from tests.hostile.target import Target  # noqa: E402

LANGUAGES = {"python": "py", "javascript": "mjs"}
"""Languages of programs, and how their files end."""


@pytest.fixture
def make_target(tmp_path):
    """Starts engines with settings of their own, each under a home of its own."""
    started = []

    def make(*flags, **options):
        started.append(Target(tmp_path / f"home{len(started)}", *flags, **options))
        return started[-1]

    yield make
    for one in started:
        one.clean_up()


@pytest.fixture(scope="session")
def target(tmp_path_factory):
    """An engine without weights that all tests attack in turn: it bears one attack after the other."""
    running = Target(tmp_path_factory.mktemp("hostile") / "home")
    yield running
    running.clean_up()


@pytest.fixture
def hostile(target):
    """Runs a hostile program to its end: exit status, its result (None if it failed) and stderr."""
    folder = Path(__file__).parent / "programs" / "python"

    def run(name, **input):
        path = folder / f"{name}.py"
        code, out, err = target.pie("run", path, "--input", json.dumps(input))
        return code, json.loads(out.splitlines()[-1]) if code == 0 and out else None, err

    return run
