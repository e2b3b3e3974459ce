"""The plugin in a fresh pytest, with the program and the tests of its guide."""

import pytest

from tests.docs.pages import ROOT, python_blocks
from tests.pytest_plugin import PLUGIN

pytest_plugins = ["pytester"]

AGENT, TESTS = (block.code for block in python_blocks(ROOT / "docs" / "guide" / "testing.md"))


@pytest.fixture
def suite(pytester, monkeypatch):
    (pytester.path / "agent.py").write_text(AGENT)
    (pytester.path / "test_agent.py").write_text(TESTS)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def suite(*words):
        return pytester.runpytest_subprocess(*PLUGIN, "-p", "no:cacheprovider", "-p", "no:asyncio", *words)

    suite.path = pytester.path
    return suite


def test_a_suite_records_once_and_then_replays_without_a_model(suite):
    suite().assert_outcomes(passed=3)
    kept = (path for path in suite.path.glob("*/*") if path.parent.name != "__pycache__")
    assert sorted(path.name for path in kept) == ["capital.pie", "capital.txt"]

    (suite.path / "agent.py").write_text(AGENT.replace("Are you sure?", "Really?"))
    (suite.path / "conftest.py").write_text(
        "import sys\ndef pytest_unconfigure(config):\n    assert 'mlx' not in sys.modules\n"
    )
    ended = suite("--pie-record=none", "-k", "real_model")
    ended.assert_outcomes(failed=1, deselected=2)
    ended.stdout.fnmatch_lines(
        [
            "*capital.pie: agent@0.0.0: differs at: render turn, after * calls that agree",
            "*agent.py:11",
            '*context.user("Really?")',
            "*- Are you sure?",
            "*+ Really?",
            "*(record it again with --pie-record=all)",
        ]
    )
    assert ended.ret == pytest.ExitCode.TESTS_FAILED
