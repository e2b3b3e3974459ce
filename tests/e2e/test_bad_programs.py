"""Programs that cannot be taken, given to a real `pie`: one clear line, and nothing is left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.store.programs import manifest, package


@pytest.fixture
def pie(tmp_path):
    """Run a command line in a process of its own; its exit code and what it wrote to stderr."""
    environment = {**os.environ, "PIE_HOME": str(tmp_path / "home")}

    def run(*words: object) -> tuple[int, str]:
        command = [sys.executable, "-m", "pie_mlx", *map(str, words)]
        ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        return ended.returncode, ended.stderr

    return run


def files_below(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["../evil.py", "a/../../evil.py", "/tmp/evil.py"])
def test_an_archive_that_would_leave_its_directory_is_refused(pie, tmp_path, name):
    (tmp_path / "x.pie").write_bytes(package((name, b"x = 1\n")))
    for verb in ("install", "run"):
        code, err = pie(verb, tmp_path / "x.pie")
        assert code == 1
        assert err.startswith("pie: ")
        assert "Traceback" not in err
        assert repr(name) in err
    assert "evil.py" not in files_below(tmp_path)


@pytest.mark.timeout(60)
def test_a_manifest_with_wrong_types_is_refused_with_everything_that_is_wrong(pie, tmp_path):
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "main.py").write_text("async def main(input):\n    print('ran')\n")
    (folder / "Pie.toml").write_text(manifest() + "[runtime]\nvalidate = 1\npackages = [1]\n[parameters]\nn = 3\n")
    for verb in ("install", "run"):
        code, err = pie(verb, folder)
        assert code == 1
        assert "Traceback" not in err
        for wrong in ("[runtime] validate", "[runtime] packages", "[parameters] n"):
            assert wrong in err
    assert "main.py" not in files_below(tmp_path / "home")
