"""What Linux and macOS tell of their memory."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pie_mlx.engine.pressure import MemoryReading, memory_reader
from pie_mlx.engine.pressure.readings import read_linux, read_macos

MIB = 1 << 20
MEMINFO = "MemTotal:       16777216 kB\nMemFree:  1000 kB\nMemAvailable:    4194304 kB\nSwapTotal: 0 kB\n"
PRESSURE = "some avg10=31.00 avg60=9.00 avg300=1.00 total=5\nfull avg10=12.50 avg60=3.00 avg300=0.10 total=2\n"


def tree(root: Path, **files: str) -> Path:
    """Files below `root`, their paths with `__` for `/`."""
    for name, content in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def test_a_machine_tells_what_is_available_and_how_long_everybody_waited(tmp_path: Path) -> None:
    root = tree(tmp_path, proc__meminfo=MEMINFO, proc__pressure__memory=PRESSURE)
    assert read_linux(root) == MemoryReading(16 << 30, 4 << 30, stalled=12.5)


def test_a_kernel_without_pressure_figures_tells_the_rest(tmp_path: Path) -> None:
    assert read_linux(tree(tmp_path, proc__meminfo=MEMINFO)) == MemoryReading(16 << 30, 4 << 30)


@pytest.mark.parametrize("content", ["", "MemTotal: 5 kB\n", "nonsense"])
def test_nothing_is_known_without_the_two_figures(content: str, tmp_path: Path) -> None:
    assert read_linux(tree(tmp_path, proc__meminfo=content)) is None
    assert read_linux(tmp_path / "nowhere") is None


def test_the_limit_of_a_cgroup_is_the_memory_there_is(tmp_path: Path) -> None:
    root = tree(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="0::/user/app\n")
    group = root / "sys/fs/cgroup/user/app"
    group.mkdir(parents=True)
    (group / "memory.max").write_text(f"{1000 * MIB}\n")
    (group / "memory.current").write_text(f"{900 * MIB}\n")
    (group / "memory.stat").write_text(f"anon 1\nfile 2\ninactive_file {50 * MIB}\n")
    assert read_linux(root) == MemoryReading(1000 * MIB, 150 * MIB)


def test_the_tightest_of_the_groups_above_counts(tmp_path: Path) -> None:
    root = tree(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="0::/user/app\n")
    for path, most, taken in (("", "max", 1), ("user", str(500 * MIB), 450 * MIB), ("user/app", "max", 440 * MIB)):
        group = root / "sys/fs/cgroup" / path
        group.mkdir(parents=True, exist_ok=True)
        (group / "memory.max").write_text(most)
        (group / "memory.current").write_text(str(taken))
    assert read_linux(root) == MemoryReading(500 * MIB, 50 * MIB)


def test_a_limit_above_the_machine_is_none(tmp_path: Path) -> None:
    root = tree(tmp_path, proc__meminfo=MEMINFO, proc__self__cgroup="4:cpu,memory:/a\n")
    group = root / "sys/fs/cgroup/memory/a"
    group.mkdir(parents=True)
    (group / "memory.limit_in_bytes").write_text("9223372036854771712")
    (group / "memory.usage_in_bytes").write_text("5")
    assert read_linux(root) == MemoryReading(16 << 30, 4 << 30)


@pytest.fixture
def real_group() -> Iterator[tuple[Path, str]]:
    """A cgroup of this machine, and the name of its limit."""
    base, limit = Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"
    if not base.is_dir():
        base, limit = Path("/sys/fs/cgroup"), "memory.max"
    group = base / f"pie-test-{uuid.uuid4()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no cgroup can be made here")
    try:
        if not (group / limit).exists():
            pytest.skip("no memory controller here")
        yield group, limit
    finally:
        group.rmdir()


@pytest.mark.skipif(sys.platform != "linux", reason="cgroups are Linux's")
def test_a_real_cgroup_limit_is_seen_from_inside(real_group: tuple[Path, str]) -> None:
    group, limit = real_group
    (group / limit).write_text(str(256 * MIB))
    program = (
        f"import os, pathlib; pathlib.Path({str(group / 'cgroup.procs')!r}).write_text(str(os.getpid())); "
        "from pie_mlx.engine.pressure.readings import read_linux; "
        "kept = bytearray(100 << 20); found = read_linux(); print(found.total_bytes, found.available_bytes)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ}, timeout=60
    )
    total, available = map(int, done.stdout.split())
    assert total == 256 * MIB
    assert available < 156 * MIB


MAC = {"hw.memsize": 16 << 30, "kern.memorystatus_level": 25, "kern.memorystatus_vm_pressure_level": 2}


def test_a_mac_tells_its_share_of_free_memory_and_its_level() -> None:
    assert read_macos(MAC.get) == MemoryReading(16 << 30, 4 << 30, system_level=2)


@pytest.mark.parametrize("missing", ["hw.memsize", "kern.memorystatus_level"])
def test_a_mac_that_does_not_tell_is_not_watched(missing: str) -> None:
    assert read_macos({**MAC, missing: None}.get) is None


def test_without_a_level_of_its_own_the_share_of_a_mac_counts() -> None:
    assert read_macos({**MAC, "kern.memorystatus_vm_pressure_level": None}.get) == MemoryReading(16 << 30, 4 << 30)


def test_each_system_has_its_reader() -> None:
    assert memory_reader("darwin") is read_macos
    assert memory_reader("linux") is read_linux
    assert memory_reader("plan9")() is None
