"""The fork server stays small, and clean of what must not be forked."""

import subprocess
import sys

LOADED = """
import sys, threading
from pie_mlx.runtime.worker.forked import zygote
import importlib
for name in zygote.LIKELY_IMPORTS:
    importlib.import_module(name)
zygote.prepare()
print(threading.active_count(), *sys.modules)
"""


def test_it_has_one_thread_and_neither_mlx_nor_the_engine():
    ended = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    threads, *modules = ended.stdout.split()
    assert threads == "1"
    heavy = {"mlx", "mlx_lm", "numpy", "transformers", "pydantic", "websockets", "uvicorn", "mcp", "textual", "rich"}
    assert {name.partition(".")[0] for name in modules} & heavy == set()
    assert not any(name.startswith(("pie_mlx.engine", "pie_mlx.config", "pie_mlx.server")) for name in modules)


def test_what_it_loads_opens_no_descriptors():
    # Some systems' ctypes keeps the file of its library open.
    count = "import ctypes, os; print(len(os.listdir('/dev/fd')))"
    before = subprocess.run([sys.executable, "-c", count], capture_output=True, text=True, check=True).stdout
    after = subprocess.run([sys.executable, "-c", LOADED + count], capture_output=True, text=True, check=True).stdout
    assert after.splitlines()[-1] == before.strip()
