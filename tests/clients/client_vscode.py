"""What `pie new` writes for VS Code, as VS Code's debugger takes it: through debugpy's adapter."""

import json
import socket
import subprocess
import sys

import pytest

from pie_mlx.cli.main import execute
from tests.dap import PATIENCE_SECONDS, Debugger

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def adapter():
    """What the extension for Python starts for a session, and speaks with over its standard streams."""
    ours, theirs = socket.socketpair()
    ours.settimeout(PATIENCE_SECONDS)
    with subprocess.Popen([sys.executable, "-m", "debugpy.adapter"], stdin=theirs, stdout=theirs) as running:
        theirs.close()
        yield ours
        running.terminate()


def test_the_program_of_a_new_folder_stops_at_a_line_that_an_editor_marks(tmp_path, adapter, monkeypatch):
    monkeypatch.setenv("PIE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "demo"
    assert execute(["new", "demo", "-o", str(folder)]) == 0
    configuration = json.loads((folder / ".vscode/launch.json").read_text().replace("${workspaceFolder}", str(folder)))
    run = {**configuration["configurations"][0], "cwd": str(folder), "python": [sys.executable]}
    main = folder / "main.py"
    line = 1 + main.read_text().splitlines().index("            count += len(output.tokens)")
    with Debugger(over=adapter) as debugger:
        program = debugger.launch(run, {main: [line]})
        thread, file, stopped, frame = debugger.stopped()
        assert (file, stopped) == (str(main), line)
        assert int(debugger.value(frame, "len(output.tokens)")) == 1
        assert debugger.value(frame, "count") == "0"
        debugger.ask("setBreakpoints", source={"path": str(main)}, breakpoints=[])
        debugger.ask("continue", threadId=thread)
        out, _ = program.communicate()
    assert program.returncode == 0
    assert b'"tokens":' in out
