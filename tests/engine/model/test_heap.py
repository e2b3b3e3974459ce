"""What the heap gives back to the system."""

import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, resource
from pie_mlx.engine.model.heap import keep_freed_memory

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
BYTES = 8 << 20

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    taken = [ctypes.c_void_p(libc.malloc(ctypes.c_size_t(BYTES))) for _ in range(4)]
    for each in taken:
        libc.memset(each, 1, ctypes.c_size_t(BYTES))
    for each in taken:
        libc.free(each)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
print(faults())
keep_freed_memory()
faults()
print(faults())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc's heap gives back what is free at once")
def test_memory_that_was_given_back_is_taken_again_without_the_system() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    before, after = map(int, run.stdout.split())
    pages = 4 * (8 << 20) // 4096
    assert before >= pages // 2
    assert after < pages // 8
