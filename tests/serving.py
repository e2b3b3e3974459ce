"""A `pie serve` in a process of its own."""

import json
import os
import subprocess
import sys


class Serving:
    """A `pie serve` and the command line beside it."""

    def __init__(self, home, *flags, model=("--dummy",)):
        self.environment = {**os.environ, "PIE_HOME": str(home), "PIE_RUNTIME__WARM_WORKERS": "0"}
        self.home = home
        self.children = []
        self.child = self.start("serve", *model, "--json", *flags)

    def start(self, *words, **options):
        command = [sys.executable, "-m", "pie_mlx", *map(str, words)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "stdin": subprocess.DEVNULL}
        self.children.append(subprocess.Popen(command, env=self.environment, **pipes, **options))
        return self.children[-1]

    def ready(self):
        """What it says when clients may come."""
        return json.loads(self.child.stdout.readline())

    def pie(self, *words):
        child = self.start(*words)
        out, err = child.communicate()
        return child.returncode, out, err

    def end(self, number):
        self.child.send_signal(number)
        return self.child.wait()

    def clean_up(self):
        for child in self.children:
            child.kill()
            child.wait()
            child.stdout.close()
            child.stderr.close()
