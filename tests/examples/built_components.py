"""The component in Python is built from its sources and run: `make check-components`."""

import subprocess
import sys
from pathlib import Path

from tests.examples.stage import EXAMPLES

BUILDER = Path(sys.executable).with_name("componentize-py")


def test_a_component_is_built_from_python_and_runs(play, tmp_path):
    built = tmp_path / "counting.wasm"
    words = ["-d", "wit", "-w", "program", "componentize", "counting", "-o", built]
    subprocess.run([BUILDER, *words], cwd=EXAMPLES / "components" / "counting", check=True)
    played = play(built, {"text": "one two three"})
    assert (played.messages, played.result) == (["pie-tiny"], "3")
