"""Whether a built wheel installs as the README says: `python -m tools.fresh_install WHEEL`.

Installs it with pip into a new virtual environment and, where uv is there, with `uv tool install`, and runs the main
job with each, outside of this repository and with a home of its own. Needs PyPI.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "examples" / "fork-and-tool"


def installed(wheel: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """How it was installed, and the command `pie` that came of it. Raises CalledProcessError."""
    venv.create(root / "venv", with_pip=True)
    python = root / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True)
    yield "pip install", root / "venv" / "bin" / "pie"
    if shutil.which("uv"):
        places = {"UV_TOOL_DIR": str(root / "tools"), "UV_TOOL_BIN_DIR": str(root / "bin")}
        command = ["uv", "tool", "install", "--quiet", "--python", sys.executable, wheel]
        subprocess.run(command, check=True, env={**os.environ, **places})
        yield "uv tool install", root / "bin" / "pie"


def main(wheel: Path) -> None:
    """Raises CalledProcessError where anything does not work."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(EXAMPLE, root / "program")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["PIE_HOME"] = str(root / "home")
        for how, pie in installed(wheel.resolve(), root):
            for words in (["--version"], ["run", "program"]):
                subprocess.run([pie, *words], check=True, cwd=root, env=environment)
            print(f"{how}: works")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
