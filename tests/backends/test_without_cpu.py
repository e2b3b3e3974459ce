"""The room of the CPU can be removed: the kernels on the emulator need nothing of it."""

import os
import subprocess
import sys

import pytest

REFUSING = """
import sys

class NoCpu:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("pie_mlx.backends.cpu"):
            raise ImportError(f"{name} is removed")

sys.meta_path.insert(0, NoCpu())
import pytest
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""

EMULATED = (
    "tests/metal/behaviour/test_engine.py::test_greedy_tokens_are_those_of_mlx_operations[llama]",
    "tests/metal/behaviour/test_engine.py::test_the_engine_runs_on_the_emulator",
    "tests/metal/page_pool/test_kernel_pool.py",
    "tests/metal/behaviour/test_faults.py::test_a_pool_goes_on_where_it_lies",
    "tests/metal/page_pool/test_pool.py",
)

ONE_BATCH_OF_EACH_KIND = "not (verification or [chunk or mixed or masked)"
"""Of steps that the pool computes: the rest import nothing else."""


@pytest.mark.skipif(sys.platform == "darwin", reason="the emulator runs on Linux")
@pytest.mark.timeout(300)
def test_the_emulated_suite_passes_without_it() -> None:
    environment = os.environ | {"PIE_METAL": "emulate"}
    ended = subprocess.run(
        [sys.executable, "-c", REFUSING, *EMULATED, "-k", ONE_BATCH_OF_EACH_KIND],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
