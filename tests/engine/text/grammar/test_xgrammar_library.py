"""xgrammar is used without torch, or not at all, with the reason."""

import subprocess
import sys

import pytest

from pie_mlx.engine.text.grammar import xgrammar_library


@pytest.fixture(autouse=True)
def _fresh() -> None:
    xgrammar_library.unavailable_because.cache_clear()


def test_the_library_works_without_torch() -> None:
    if reason := xgrammar_library.unavailable_because():
        pytest.skip(reason)
    code = (
        "import sys\n"
        "from pie_mlx.engine.text.grammar.xgrammar_library import smoke_test\n"
        "smoke_test()\n"
        "print('torch' in sys.modules, 'xgrammar' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_missing_or_unsupported_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xgrammar_library.metadata, "version", lambda name: "9.9.9")
    assert "9.9.9 is not among" in xgrammar_library.unavailable_because()
    xgrammar_library.unavailable_because.cache_clear()

    def absent(name: str) -> str:
        raise xgrammar_library.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(xgrammar_library.metadata, "version", absent)
    assert "not installed" in xgrammar_library.unavailable_because()
    xgrammar_library.unavailable_because.cache_clear()


def test_a_crashing_trial_run_is_a_reason_not_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    if xgrammar_library.unavailable_because():
        pytest.skip("xgrammar is not installed")
    xgrammar_library.unavailable_because.cache_clear()
    monkeypatch.setattr(xgrammar_library.sys, "executable", "/bin/false")
    assert "status 1" in xgrammar_library.unavailable_because()
    xgrammar_library.unavailable_because.cache_clear()
