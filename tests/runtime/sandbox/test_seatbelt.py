"""What the profile for macOS allows and what it does not, read as Seatbelt reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.runtime.sandbox.interpreter import interpreter_paths
from pie_mlx.runtime.sandbox.policy import Policy
from pie_mlx.runtime.sandbox.seatbelt import profile
from pie_mlx.runtime.worker.proxy_route import certificate_paths
from tests.runtime.sandbox.seatbelt_rules import Rules, read

PROGRAM, WORKSPACE, PORT = "/Users/ada/pro (gram)", "/private/var/folders/work", 4711
READABLE = (*interpreter_paths(), *certificate_paths(), PROGRAM)
MAC_LIBRARIES = (
    "/usr/lib/libSystem.B.dylib",
    "/System/Library/dyld/dyld_shared_cache_arm64e",
    "/System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/dyld_shared_cache_arm64e",
    "/opt/homebrew/opt/xz/lib/liblzma.5.dylib",
    "/opt/homebrew/Cellar/xz/5.6.3/lib/liblzma.5.dylib",
    "/opt/local/lib/liblzma.5.dylib",
)


@pytest.fixture(params=[False, True], ids=["the system's rules allow nothing", "the system's rules allow everything"])
def rules(request):
    return Rules(profile(Policy(READABLE, (WORKSPACE,))), request.param)


@pytest.fixture(params=[False, True], ids=["the system's rules allow nothing", "the system's rules allow everything"])
def with_proxy(request):
    return Rules(profile(Policy(READABLE, (WORKSPACE,), PORT)), request.param)


def test_every_readable_path_can_be_read_and_its_libraries_loaded(rules):
    for path in (*READABLE, *MAC_LIBRARIES):
        for one in (path, f"{path}/lib-dynload/unicodedata.cpython-312-darwin.so"):
            assert rules.allow("file-read-data", path=one), one
            assert rules.allow("file-map-executable", path=one), one
            assert not rules.allow("file-write-data", path=one), one


def test_what_a_program_writes_cannot_be_loaded_as_a_library(rules):
    for path in (WORKSPACE, f"{WORKSPACE}/file"):
        for operation in ("file-read-data", "file-write-data", "file-write-create", "file-write-unlink"):
            assert rules.allow(operation, path=path)
        for operation in ("file-map-executable", "file-write-flags", "file-write-xattr"):
            assert not rules.allow(operation, path=path)


@pytest.mark.parametrize(
    "path", ["/", "/Users/ada/.ssh/id_ed25519", f"{PROGRAM}s/main.py", f"{WORKSPACE}er", "/private/tmp"]
)
def test_other_files_are_closed_but_for_what_they_are(rules, path):
    assert rules.allow("file-read-metadata", path=path)
    for operation in (
        "file-read-data",
        "file-read-xattr",
        "file-write-data",
        "file-write-create",
        "file-map-executable",
    ):
        assert not rules.allow(operation, path=path)


def test_nothing_and_randomness_can_be_read(rules):
    assert rules.allow("file-write-data", path="/dev/null")
    assert all(rules.allow("file-read-data", path=f"/dev/{name}") for name in ("null", "zero", "random", "urandom"))


@pytest.mark.parametrize(
    "operation",
    [
        *("process-fork", "process-exec", "network-outbound", "network-bind", "iokit-open", "iokit-get-properties"),
        *("mach-lookup", "mach-register", "ipc-posix-shm-read-data", "ipc-sysv-shm", "sysctl-write", "nvram-get"),
    ],
)
def test_other_processes_the_network_and_devices_are_out_of_reach(rules, operation):
    assert not rules.allow(operation, name="com.apple.pasteboard.1", address="localhost:80")


def test_a_process_signals_and_looks_at_itself_alone(rules):
    for operation in ("signal", "process-info-pidinfo"):
        assert rules.allow(operation, target="self")
        assert not rules.allow(operation, target="others")
    assert not rules.allow("sysctl-read", name="kern.procargs2")


def test_names_of_users_and_time_zones_are_looked_up(rules):
    assert rules.allow("mach-lookup", name="com.apple.system.opendirectoryd.libinfo")
    assert rules.allow("mach-lookup", name="com.apple.system.notification_center")
    assert rules.allow("ipc-posix-shm-read-data", name="apple.shm.notification_center")


def test_only_the_port_of_the_proxy_is_open(with_proxy):
    assert with_proxy.allow("network-outbound", address=f"localhost:{PORT}")
    assert not with_proxy.allow("network-outbound", address="localhost:80")
    assert not with_proxy.allow("network-inbound", address=f"localhost:{PORT}")


NODE = "/opt/homebrew/Cellar/node/24.19.0/bin/node"


@pytest.fixture(params=[False, True], ids=["the system's rules allow nothing", "the system's rules allow everything"])
def of_node(request):
    return Rules(profile(Policy((PROGRAM,), (WORKSPACE,), executable=(NODE,))), request.param)


def test_node_and_nothing_else_is_executed(of_node):
    assert of_node.allow("process-exec", path=NODE)
    for path in ("/bin/sh", f"{NODE}2", f"{WORKSPACE}/node", f"{NODE}/x", PROGRAM):
        assert not of_node.allow("process-exec", path=path), path
    assert not of_node.allow("process-fork")


def test_node_is_read_and_mapped_and_not_written(of_node):
    for operation in ("file-read-data", "file-map-executable"):
        assert of_node.allow(operation, path=NODE)
    assert not of_node.allow("file-write-data", path=NODE)


def test_node_compiles_code_of_its_own(of_node):
    assert of_node.allow("dynamic-code-generation")


def test_a_component_is_code_that_was_compiled():
    found = Rules(profile(Policy((PROGRAM,), (WORKSPACE,), compiles=True)), system_allows=False)
    assert found.allow("dynamic-code-generation")
    assert not found.allow("process-exec", path="/bin/sh")


def test_other_programs_compile_no_code_of_their_own():
    assert not Rules(profile(Policy((PROGRAM,), (WORKSPACE,))), system_allows=False).allow("dynamic-code-generation")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_any_path_is_the_one_that_is_read(name):
    found = Rules(profile(Policy((f"/{name}",))), system_allows=False)
    assert found.allow("file-map-executable", path=f"/{name}")
    assert not found.allow("file-map-executable", path=f"/{name}x")


@pytest.mark.parametrize("text", ["(allow", "(allow))", '(allow "x)'])
def test_a_profile_that_is_not_whole_is_noticed(text):
    with pytest.raises(ValueError, match=r"bracket|token"):
        read(text)
