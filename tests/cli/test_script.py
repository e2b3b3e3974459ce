"""The console script before it has read its command line."""

import signal
import subprocess
import sys

INTERRUPTED_IMPORT = """
import os, signal, sys
from pie_mlx.cli.script import main

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
main()
"""


def test_an_interrupt_while_the_command_line_is_imported_ends_it_without_a_traceback():
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED_IMPORT], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, b"", b"")
