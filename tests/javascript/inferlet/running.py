"""Scripts of this folder, run by Node."""

import json
import subprocess
from pathlib import Path
from typing import Any

from pie_mlx.runtime.javascript.node import find_node

HERE = Path(__file__).parent


def run(script: str, *arguments: str) -> Any:
    """What a script prints, as JSON."""
    command = [find_node().path, "--expose-gc", str(HERE / script), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)
