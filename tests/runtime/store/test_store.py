import stat
import subprocess
import sys

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.execution.entry import program_entry
from pie_mlx.runtime.store import ProgramStore, digest, manifest_digest
from tests.runtime.store.programs import MAIN, manifest, package, write_directory


def identities(store):
    return [record.identity for record in store.listing()]


def test_a_module_is_installed_under_the_name_of_its_manifest(store):
    installed = store.install(MAIN, manifest())
    assert (installed.identity, installed.record.kind) == ("demo@0.1.0", "module")
    assert installed.program.main_file.read_bytes() == MAIN


def test_a_package_is_unpacked_into_a_read_only_directory_of_its_digest(store, home):
    payload = package(("data/words.txt", b"words"))
    installed = store.install(payload, manifest())
    folder = home / "cache" / "programs" / digest(payload)
    assert installed.program.directory == folder
    assert (folder / "data" / "words.txt").read_bytes() == b"words"
    assert [oct(stat.S_IMODE((folder / name).stat().st_mode)) for name in ("", "data", "main.py")] == [
        "0o500",
        "0o500",
        "0o400",
    ]


def test_the_store_is_the_owners_alone(store, home):
    store.install(MAIN, manifest())
    folders = [home, *(place for place in home.rglob("*") if place.is_dir())]
    assert [folder for folder in folders if stat.S_IMODE(folder.stat().st_mode) & 0o077] == []
    files = home / "programs" / "demo" / "0.1.0"
    assert {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in files.iterdir()} == dict.fromkeys(
        ["program", "Pie.toml", "meta.json"], "0o600"
    )


def test_what_is_kept_is_the_file_and_the_text_as_they_came(store, home):
    text = manifest().replace("\n", "\r\n")
    record = store.install(MAIN, text, owner="ada").record
    folder = home / "programs" / "demo" / "0.1.0"
    assert (folder / "program").read_bytes() == MAIN
    assert (folder / "Pie.toml").read_bytes() == text.encode()
    assert (record.program_hash, record.manifest_hash) == (digest(MAIN), manifest_digest(text))
    assert (record.owner, record.size_bytes, record.installed_at) == ("ada", len(MAIN), 1_000_000_000.0)


def test_a_restart_finds_what_was_installed(store, home):
    before = store.install(MAIN, manifest())
    after = ProgramStore(home).find("demo")
    assert (after.record, after.manifest_text) == (before.record, before.manifest_text)


async def test_an_installed_program_is_launched(store):
    program = store.install(package(), manifest()).program
    assert await program_entry(program).run({}) == "done"


def test_an_unpacked_copy_that_is_gone_is_made_again(store, home):
    installed = store.install(package(), manifest())
    folder = installed.program.directory
    folder.chmod(0o700)
    folder.rename(home / "elsewhere")
    assert store.find("demo").program.main_file.is_file()


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"\0asm\1\0\0\0", "program: a core module of WebAssembly, not a component"),
        (b"\x7fELF\0", "unrecognised program: expected Python source"),
        (b"a\0b", "unrecognised program"),
        (b"async def main(:\n", r"main\.py:1: "),
        (b"x = 1\n", "no 'async def main"),
        (b"async def main(input):\n" + b"(" * 5000, r"main\.py"),
        (b"PK\3\4 and nothing", "package: not a zip archive: it has no end"),
    ],
)
def test_what_is_no_program_is_refused(store, payload, why):
    with pytest.raises(LaunchError, match=why):
        store.install(payload, manifest())
    assert identities(store) == []


def test_a_package_without_main_is_refused(store):
    from tests.runtime.store.programs import archive

    with pytest.raises(LaunchError, match=r"package: no main\.py"):
        store.install(archive(("Pie.toml", manifest())), manifest())


def test_a_manifest_that_does_not_hold_is_refused(store):
    with pytest.raises(LaunchError, match=r"Invalid manifest: \[package\] version: missing"):
        store.install(MAIN, '[package]\nname = "demo"\n')


def test_the_manifest_is_that_of_the_package(store):
    with pytest.raises(LaunchError, match=r"manifest differs from the package's Pie.toml"):
        store.install(package(), manifest(version="0.2.0"))


def test_line_ends_make_no_difference_between_manifests(store):
    store.install(package(text=manifest().replace("\n", "\r\n")), manifest())
    assert identities(store) == ["demo@0.1.0"]


def test_the_same_contents_again_change_nothing(store, clock):
    first = store.install(MAIN, manifest(), owner="ada")
    clock.now += 5
    assert store.install(MAIN, manifest(), owner="bob").record == first.record


@pytest.mark.parametrize(("payload", "text"), [(MAIN + b"#", manifest()), (MAIN, manifest() + "#")])
def test_other_contents_are_refused_unless_forced(store, payload, text):
    before = store.install(MAIN, manifest()).record
    with pytest.raises(LaunchError, match=r"Program 'demo@0.1.0' is already installed with different contents: raise"):
        store.install(payload, text)
    assert store.listing() == [before]
    assert store.install(payload, text, force=True).record != before


def test_a_running_program_keeps_the_version_it_started_with(store):
    old = store.install(MAIN, manifest()).program
    store.install(MAIN + b"#", manifest(), force=True)
    store.remove("demo")
    assert old.main_file.read_bytes() == MAIN


def test_copies_nobody_asked_for_in_a_day_are_swept(store, clock):
    old = store.install(MAIN, manifest()).program
    store.install(MAIN + b"#", manifest(), force=True)
    clock.now += 90_000
    new = store.install(MAIN + b"##", manifest("other")).program
    assert (old.main_file.exists(), new.main_file.exists()) == (False, True)
    assert store.find("demo").program.main_file.exists()


def test_the_latest_is_the_highest_release(store):
    for version in ("0.9.0", "0.10.0", "0.10.1-beta", "0.2.0"):
        store.install(MAIN, manifest(version=version))
    assert store.find("demo").identity == "demo@0.10.0"
    assert store.find("demo@latest").identity == "demo@0.10.0"
    assert store.find("demo@0.10.1-beta").identity == "demo@0.10.1-beta"


def test_without_a_release_the_latest_is_the_highest_prerelease(store):
    for version in ("1.0.0-alpha", "1.0.0-beta.2", "1.0.0-beta.10"):
        store.install(MAIN, manifest(version=version))
    assert store.find("demo").identity == "demo@1.0.0-beta.10"


def test_what_is_not_installed_is_said_so(store, home):
    for identifier, named in [("demo", "demo@latest"), ("demo@1.0.0", "demo@1.0.0"), ("x@latest", "x@latest")]:
        with pytest.raises(LaunchError, match=f"program '{named}' is not installed: upload it with install_program"):
            store.find(identifier)


@pytest.mark.parametrize(
    "identifier", ["", "a b", "demo@", "demo@1", "demo@1.0", "demo@01.0.0", "../x", "demo@1.0.0+b"]
)
def test_what_is_no_identifier_is_refused(store, identifier):
    with pytest.raises(LaunchError, match=r"Invalid program identifier .*: expected 'name@major.minor.patch'"):
        store.find(identifier)


def test_check_compares_the_hashes_it_is_given(store):
    record = store.install(MAIN, manifest()).record
    program, manifest_hash = record.program_hash, record.manifest_hash
    assert store.check("demo", "0.1.0")
    assert store.check("demo", "0.1.0", program_hash=program, manifest_hash=manifest_hash)
    assert not store.check("demo", "0.1.0", program_hash="0" * 64)
    assert not store.check("demo", "0.1.0", program_hash=program, manifest_hash="0" * 64)
    assert not store.check("demo", "0.2.0")
    assert not store.check("nothing", "0.1.0")
    with pytest.raises(LaunchError, match="Invalid program identifier"):
        store.check("demo", "1")


def test_listing_is_in_order_of_name_and_version(store):
    assert store.listing() == []
    for name, version in [("b", "1.0.0"), ("a", "0.10.0"), ("a", "0.9.0")]:
        store.install(MAIN, manifest(name, version))
    assert identities(store) == ["a@0.9.0", "a@0.10.0", "b@1.0.0"]


def test_one_version_or_all_are_removed(store, home):
    for version in ("1.0.0", "2.0.0", "3.0.0"):
        store.install(MAIN, manifest(version=version))
    assert store.remove("demo", "2.0.0") == ["demo@2.0.0"]
    assert identities(store) == ["demo@1.0.0", "demo@3.0.0"]
    assert store.remove("demo") == ["demo@1.0.0", "demo@3.0.0"]
    assert [place.name for place in (home / "programs").iterdir()] == [".lock"]


def test_removing_what_is_not_there_is_said_so(store):
    with pytest.raises(LaunchError, match="'demo@latest' is not installed"):
        store.remove("demo")


@pytest.mark.parametrize("other", ["Demo-App", "demo_app", "DEMO_APP"])
def test_names_that_only_some_file_systems_tell_apart_cannot_both_be_installed(store, other):
    store.install(MAIN, manifest("demo-app"))
    with pytest.raises(LaunchError, match=f"program '{other}': 'demo-app' is installed"):
        store.install(MAIN, manifest(other))


def test_versions_that_only_some_file_systems_tell_apart_cannot_both_be_installed(store):
    store.install(MAIN, manifest(version="1.0.0-beta"))
    with pytest.raises(LaunchError, match="versions that differ only in case"):
        store.install(MAIN, manifest(version="1.0.0-BETA"))


@pytest.mark.parametrize("damage", ["{", '{"name": 3}', ""])
def test_a_damaged_record_is_reported_and_can_be_installed_again(store, home, damage):
    store.install(MAIN, manifest())
    (home / "programs" / "demo" / "0.1.0" / "meta.json").write_text(damage)
    assert store.listing() == []
    (error,) = store.damaged()
    assert error.message.startswith("program 'demo@0.1.0': its record is damaged: ")
    with pytest.raises(LaunchError, match="its record is damaged"):
        store.find("demo")
    store.install(MAIN, manifest())
    assert identities(store) == ["demo@0.1.0"]


def test_a_file_that_is_missing_is_said_so(store, home):
    store.install(MAIN, manifest())
    (home / "programs" / "demo" / "0.1.0" / "Pie.toml").unlink()
    with pytest.raises(LaunchError, match="No such file"):
        store.find("demo")


FOREVER = """
import sys
from pathlib import Path
from pie_mlx.runtime.store import ProgramStore
from tests.runtime.store.programs import MAIN, manifest
store, count = ProgramStore(Path(sys.argv[1])), 0
while True:
    count += 1
    store.install(MAIN + b"#" * (count % 2), manifest(), force=True)
    print(count, flush=True)
"""


@pytest.mark.parametrize("installs", [1, 4, 9])
def test_a_process_killed_while_it_installs_leaves_a_whole_program(home, installs):
    with subprocess.Popen([sys.executable, "-c", FOREVER, str(home)], stdout=subprocess.PIPE) as process:
        for _ in range(installs):
            process.stdout.readline()
        process.kill()
    installed = ProgramStore(home).find("demo")
    assert installed.program.main_file.read_bytes() in (MAIN, MAIN + b"#")
    assert digest(installed.program.main_file.read_bytes()) == installed.record.program_hash
    ProgramStore(home).install(MAIN, manifest(version="0.2.0"))
    assert sorted(p.name for p in (home / "programs" / "demo").iterdir()) == ["0.1.0", "0.2.0"]


def test_looking_makes_nothing(store, home):
    assert (store.listing(), store.damaged(), store.check("demo", "1.0.0")) == ([], [], False)
    with pytest.raises(LaunchError):
        store.find("demo")
    assert not home.exists()


class KilledError(Exception):
    """Stands for a process that ends at this place."""


@pytest.mark.parametrize("call", range(3))
def test_a_crash_leaves_the_old_version_or_the_new_one(store, home, monkeypatch, call):
    old = store.install(MAIN, manifest()).record
    rename, calls = type(home).rename, []

    def rename_until_killed(path, target):
        if "programs" in path.parts and "cache" not in path.parts:
            calls.append(path)
            if len(calls) > call:
                raise KilledError
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr("pie_mlx.runtime.store.folders.remove_tree", lambda folder: None)
        patch.setattr(type(home), "rename", rename_until_killed)
        try:
            store.install(MAIN + b"#", manifest(), force=True)
        except KilledError:
            assert call < 2
    assert ProgramStore(home).find("demo").record.program_hash == (
        old.program_hash if call < 2 else digest(MAIN + b"#")
    )
    assert [p.name for p in (home / "programs" / "demo").iterdir()] == ["0.1.0"]


@pytest.mark.parametrize("path", ["", "programs", "cache", "programs/demo"])
def test_a_disk_that_cannot_be_written_is_said_so(store, home, path):
    home.parent.joinpath("home", path).parent.mkdir(parents=True, exist_ok=True)
    home.joinpath(path).write_text("in the way")
    with pytest.raises(LaunchError, match=r"programs: .*home"):
        store.install(MAIN, manifest())


def test_a_directory_is_packed_and_installed(store, tmp_path):
    folder = write_directory(tmp_path / "demo", manifest(), helper="X = 1\n")
    installed = store.install_path(folder)
    assert installed.record.kind == "package"
    assert (installed.program.directory / "helper.py").read_text() == "X = 1\n"


def test_a_file_is_installed_with_its_own_manifest(store, tmp_path):
    (tmp_path / "a.py").write_bytes(b'# /// pie\n# [package]\n# name = "inside"\n# version = "1.0.0"\n# ///\n' + MAIN)
    assert store.install_path(tmp_path / "a.py").identity == "inside@1.0.0"


def test_a_file_without_a_manifest_is_named_after_itself(store, tmp_path):
    (tmp_path / "my prog.py").write_bytes(MAIN)
    assert store.install_path(tmp_path / "my prog.py").identity == "my-prog@0.0.0"


def test_a_package_file_is_installed_with_its_own_manifest(store, tmp_path):
    (tmp_path / "x.pie").write_bytes(package())
    assert store.install_path(tmp_path / "x.pie").identity == "demo@0.1.0"


def test_what_is_not_there_cannot_be_installed(store, tmp_path):
    for name in ("none.py", "none.pie", "none"):
        with pytest.raises(LaunchError, match="no such file"):
            store.install_path(tmp_path / name)
