"""Deleted files that a process holds, found from outside."""

import os
import socket
import subprocess
import sys
import textwrap

import pytest

from pie_mlx.runtime.file_tree import Usage
from pie_mlx.runtime.worker.watch.deleted_files import VNODE_INFO, deleted_files, deleted_vnode

MEBI = 1 << 20
linux = pytest.mark.skipif(sys.platform != "linux", reason="looked up in /proc")

HELD = """
import ctypes, mmap, os, socket, sys
def deleted(name="f"):
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    os.write(fd, bytes(1 << 20))
    os.unlink(name)
    return fd
"""
WAYS = {
    "open": ("fd = deleted()", Usage(MEBI, 1)),
    "open twice": ("fd = os.dup(deleted())", Usage(MEBI, 1)),
    "mapped and open": ("m = mmap.mmap(deleted(), 4096)", Usage(MEBI, 1)),
    "without a name": ("fd = os.open('.', os.O_RDWR | os.O_TMPFILE); os.write(fd, bytes(1 << 20))", Usage(MEBI, 1)),
    "its directory gone too": ("os.mkdir('d'); os.chdir('d'); fd = deleted(); os.chdir('..'); os.rmdir('d')", None),
    "of elsewhere": ("fd = os.memfd_create('m'); os.write(fd, bytes(1 << 20))", Usage()),
    "there": ("fd = os.open('f', os.O_RDWR | os.O_CREAT); os.write(fd, bytes(1 << 20))", Usage()),
}
HIDDEN = {
    "only mapped": """
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        fd = deleted()
        libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
        os.close(fd)
        """,
    "in a socket": """
        ends = socket.socketpair()
        fd = deleted()
        socket.send_fds(ends[0], [b"x"], [fd])
        os.close(fd)
        """,
}


@pytest.fixture
def holding(tmp_path):
    """Answers what is found of a process that runs some code in a directory of its own."""
    started = []

    def run(code):
        directory = tmp_path / "workspace"
        directory.mkdir()
        script = HELD + textwrap.dedent(code) + "\nprint(flush=True)\nsys.stdin.read()"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen([sys.executable, "-c", script], cwd=directory, **pipes))
        started[0].stdout.readline()
        return deleted_files(started[0].pid, str(directory))

    yield run
    for child in started:
        child.communicate()


@linux
@pytest.mark.parametrize("way", WAYS)
def test_a_deleted_file_counts_for_as_long_as_it_is_open(holding, way):
    code, expected = WAYS[way]
    assert holding(code) == (expected or Usage(MEBI, 1))


@linux
@pytest.mark.parametrize("way", HIDDEN)
def test_a_deleted_file_that_cannot_be_measured_is_hidden(holding, way):
    assert holding(HIDDEN[way]).hidden


@linux
def test_what_is_on_its_way_through_the_socket_of_the_fork_server_is_not_its_own(tmp_path):
    ours, theirs = socket.socketpair()
    with ours, theirs, (tmp_path / "f").open("wb") as file:
        socket.send_fds(ours, [b"x"], [file.fileno()])
        inode = os.fstat(theirs.fileno()).st_ino
        assert deleted_files(os.getpid(), str(tmp_path / "w")).hidden
        assert not deleted_files(os.getpid(), str(tmp_path / "w"), inode).hidden
        for fd in socket.recv_fds(theirs, 1, 1)[1]:
            os.close(fd)


@linux
def test_a_process_that_closes_itself_to_its_owner_hides_its_files():
    code = """
        import ctypes, os, time
        from pie_mlx.runtime.worker.watch.deleted_files import deleted_files
        if os.geteuid() == 0:
            os.setresuid(65534, 65534, 65534)
            ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
            os.write(writing, b"x")
            time.sleep(60)
            os._exit(0)
        try:
            os.read(reading, 1)
            print(deleted_files(pid, "/workspace").hidden, deleted_files(os.getpid(), "/workspace").hidden)
        finally:
            os.kill(pid, 9)
        """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.stdout.split() == ["True", "False"], ended.stderr


def test_a_process_that_is_gone_holds_nothing(tmp_path):
    with subprocess.Popen(["true"]) as child:
        child.wait()
    assert deleted_files(child.pid, str(tmp_path / "w")) == Usage()


@pytest.mark.parametrize(
    ("device", "mode", "links", "found"),
    [(7, 0o100600, 0, {42: 8 * 512}), (7, 0o100600, 1, {}), (7, 0o040700, 0, {}), (8, 0o100600, 0, {})],
)
def test_what_macos_tells_of_a_file_is_understood(device, mode, links, found):
    assert deleted_vnode(VNODE_INFO.pack(device, mode, links, 42, 4000, 8), 7) == found


def test_the_layout_is_that_of_macos():
    assert VNODE_INFO.size == 152  # sizeof(struct vnode_info)
