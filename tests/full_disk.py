"""A file system with little room."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def small_disk(tmp_path):
    """A directory with room for a few blocks, and a function that takes them all."""
    place = tmp_path / "small"
    place.mkdir(mode=0o700)
    options = "size=256k,mode=0700,nr_inodes=4000"
    if sys.platform != "linux" or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", place]).returncode:
        pytest.skip("needs the right to mount a file system")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(place):
    """Leave no room in it."""
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            return


def names(place):
    """Everything below a directory but what fills it, and empty files that are locked."""
    found = {os.path.relpath(os.path.join(where, file), place) for where, _, files in os.walk(place) for file in files}
    return {name for name in found if os.path.basename(name) not in ("filler", ".lock", "lock")}
