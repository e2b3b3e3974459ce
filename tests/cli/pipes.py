"""A command whose output somebody stops to read."""

import subprocess
import sys

PATIENCE_SECONDS = 60


def after_its_first_line(*words):
    """What it wrote to standard error, once its output is read no further than to the end of a line."""
    command = [sys.executable, "-m", "pie_mlx", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        process.stdout.close()
        try:
            return process.communicate(timeout=PATIENCE_SECONDS)[1]
        finally:
            process.kill()
