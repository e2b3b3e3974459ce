"""/scratch as programs see it (protocol 7.2)."""

import os
import tempfile

import pytest

from pie_mlx.runtime.worker.workspaces import encoded, scratch_directory
from tests.runtime.worker.conftest import bounded_engine, ended_by, launch

USES = {
    "open": "open('/scratch/f', 'w').write('x') and open('/scratch/f').read()",
    "pathlib": "[Path('/scratch/d').mkdir(), Path('/scratch/d/f').write_text('x'), open('/scratch/d/f').read()][2]",
    "pathlib listing": "[touched('f'), sorted(map(str, Path('/scratch').iterdir()))][1]",
    "pathlib glob": "[touched('f.txt'), list(map(str, Path('/scratch').glob('*.txt')))][1]",
    "pathlib resolve": "str(Path('/scratch/../scratch/f').resolve())",
    "relative": "[open('f', 'w').close(), os.path.abspath('f'), os.path.exists('/scratch/f')][1:]",
    "cwd": "os.getcwd()",
    "makedirs": "[os.makedirs('/scratch/a/b/c'), [r for r, _, _ in os.walk('/scratch')]][1]",
    "rename": "[touched('a'), os.rename('/scratch/a', '/scratch/b'), os.listdir('/scratch')][2]",
    "readlink": "[os.symlink('/scratch/a', 'l'), os.readlink('/scratch/l'), os.path.realpath('/scratch/l')][1:]",
    "scandir": "[touched('f'), [(e.path, e.is_file(), os.stat(e).st_size) for e in os.scandir('/scratch')]][1]",
    "bytes": "[open(b'/scratch/f', 'w').close(), os.listdir(b'/scratch')][1]",
    "shutil": "[touched('a'), shutil.copy2('/scratch/a', '/scratch/b'), os.path.exists('/scratch/b')][1:]",
    "shutil tree": "[os.makedirs('/scratch/a/b'), shutil.copytree('/scratch/a', '/scratch/c'),"
    " shutil.rmtree('/scratch/a'), sorted(os.listdir('/scratch'))][3]",
    "glob": "[touched('f.txt'), glob.glob('/scratch/*.txt'), glob.glob('/scratch/**', recursive=True)][1:]",
    "tempfile": "Path(tempfile.mkstemp(dir='/scratch')[1]).parent.as_posix()",
    "temporary file": "with_temporary()",
    "temporary directory": "os.path.dirname(tempfile.mkdtemp())",
    "sqlite": "list(database('/scratch/d.db')) + list(database('/scratch/d.db'))",
    "sqlite uri": "list(database('file:/scratch/u.db?mode=rwc', uri=True))",
    "name": "open('/scratch/f', 'w').name",
    "error": "error_of(lambda: open('/scratch/none/f'))",
    "chmod": "[touched('f'), os.chmod('/scratch/f', 0o600), os.utime('f', (1, 1))][1:]",
    "chmod of nothing": "error_of(lambda: os.chmod('/scratch/none', 0o600))",
}
ANSWERS = {
    "open": "'x'",
    "pathlib": "'x'",
    "pathlib listing": "['/scratch/f']",
    "pathlib glob": "['/scratch/f.txt']",
    "pathlib resolve": "'/scratch/f'",
    "relative": "['/scratch/f', True]",
    "cwd": "'/scratch'",
    "makedirs": "['/scratch', '/scratch/a', '/scratch/a/b', '/scratch/a/b/c']",
    "rename": "['b']",
    "readlink": "['/scratch/a', '/scratch/a']",
    "scandir": "[('/scratch/f', True, 0)]",
    "bytes": "[b'f']",
    "shutil": "['/scratch/b', True]",
    "shutil tree": "['c']",
    "glob": "[['/scratch/f.txt'], ['/scratch/', '/scratch/f.txt']]",
    "tempfile": "'/scratch'",
    "temporary file": "('/scratch', 'x')",
    "temporary directory": "'/scratch'",
    "sqlite": "[(1,), (1,), (2,)]",
    "sqlite uri": "[(1,)]",
    "name": "'/scratch/f'",
    "error": "('FileNotFoundError', '/scratch/none/f')",
    "chmod": "[None, None]",
    "chmod of nothing": "('FileNotFoundError', '/scratch/none')",
}

ELSEWHERE = {
    "temporary file": repr((tempfile.gettempdir(), "x")),
    "temporary directory": repr(tempfile.gettempdir()),
}
"""Where the system's temporary directory is open, temporary files go there."""

PROGRAM = """
import glob, os, shutil, sqlite3, tempfile
from pathlib import Path

def database(path, **options):
    with sqlite3.connect(path, **options) as connection:
        connection.execute("create table if not exists t (n integer primary key)")
        connection.execute("insert into t default values")
        return connection.execute("select n from t").fetchall()

def touched(name):
    Path("/scratch", name).touch()

def with_temporary():
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write("x")
        file.seek(0)
        return os.path.dirname(file.name), file.read()

def error_of(act):
    try:
        act()
    except OSError as error:
        return type(error).__name__, error.filename

async def main(input):
    answers = {}
    for name, expression in input["uses"].items():
        for entry in os.scandir("/scratch"):
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else os.unlink(entry)
        try:
            answers[name] = repr(eval(expression))
        except Exception as error:
            answers[name] = f"{type(error).__name__}: {error}"
    return answers
"""


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="macOS has no such call")
async def test_space_is_taken_ahead_by_writing(program, tmp_path):
    path = program("""
        import os
        async def main(input):
            os.posix_fallocate(os.open("/scratch/f", os.O_RDWR | os.O_CREAT), 0, 10_000)
            return os.stat("/scratch/f").st_size
        """)
    async with bounded_engine(sandbox="best-effort", scratch_directory=str(tmp_path / "s")) as engine:
        assert await engine.run(path) == 10_000


@pytest.mark.parametrize("sandbox", ["best-effort", "off"])
async def test_the_usual_ways_to_files_know_scratch(program, tmp_path, sandbox):
    async with bounded_engine(sandbox=sandbox, scratch_directory=str(tmp_path / "scratch")) as engine:
        answers = await engine.run(program(PROGRAM), {"uses": USES})
    expected = ANSWERS if sandbox == "best-effort" else ANSWERS | ELSEWHERE
    assert answers == expected


async def test_files_last_and_belong_to_user_and_program(program, tmp_path):
    path = program("""
        import os
        async def main(input):
            found = os.listdir("/scratch")
            open(f"/scratch/{input['name']}", "w").close()
            return found
        """)
    async with bounded_engine(sandbox="best-effort", scratch_directory=str(tmp_path / "s")) as engine:
        assert await engine.run(path, {"name": "first"}, username="bob") == []
        assert await engine.run(path, {"name": "second"}, username="bob") == ["first"]
        assert await engine.run(path, {"name": "other"}, username="Bob") == []
        renamed = path.rename(path.with_name("another.py"))
        assert await engine.run(renamed, {"name": "x"}, username="bob") == []


async def test_the_hosts_path_is_told_to_libraries(program, tmp_path):
    path = program("import os\nasync def main(input):\n    return os.environ['PIE_SCRATCH']\n")
    async with bounded_engine(sandbox="best-effort", scratch_directory=str(tmp_path / "s")) as engine:
        assert await engine.run(path) == str(tmp_path / "s" / "local" / "program")


async def test_another_users_files_are_closed(program, tmp_path, complete_walls):
    path = program("""
        import os
        async def main(input):
            try:
                return os.listdir(os.path.dirname(os.environ["PIE_SCRATCH"]))
            except PermissionError:
                return "refused"
        """)
    async with bounded_engine(sandbox="best-effort", scratch_directory=str(tmp_path / "s")) as engine:
        assert await engine.run(path) == "refused"


async def test_without_allow_fs_there_is_no_scratch(program):
    path = program("""
        import os
        async def main(input):
            try:
                open("/scratch/f", "w")
            except PermissionError as error:
                return error.strerror
        """)
    async with bounded_engine(sandbox="best-effort") as engine:
        assert await engine.run(path) == "the file system is off: set [runtime] allow_fs = true"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("'out.txt'", "'out.txt': removed with the program; "),
        ("'a', 'b', 'c'", "'a' and 2 more: removed with the program; "),
        ("'.cache', 'tmp1'", ""),
    ],
)
@pytest.mark.parametrize("allowed", [True, False])
async def test_files_that_go_with_the_program_are_told_of(program, tmp_path, names, told, allowed):
    path = program(f"""
        async def main(input):
            for name in ({names},):
                open(name, "w").close()
        """)
    async with bounded_engine(scratch_directory=str(tmp_path / "s") if allowed else None) as engine:
        launched = await launch(engine, path)
        await launched.process.outcome()
    shown = launched.text("stderr")
    assert (told in shown if told and not allowed else shown == "") is True


async def test_a_program_may_remove_its_directory(program):
    path = program("""
        import os
        async def main(input):
            os.rmdir(os.getcwd())
            return "removed"
        """)
    async with bounded_engine() as engine:
        assert await engine.run(path) == "removed"


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_full_directory_is_enospc(program, tmp_path, monkeypatch, allowed):
    monkeypatch.setattr("pie_mlx.runtime.worker.watch.scratch.LOOK_SECONDS", 1e9)  # may end it first
    path = program("""
        import errno, os, time
        async def main(input):
            try:
                for n in range(100):
                    with open(f"f{n}", "wb") as file:
                        file.write(os.urandom(256 << 10))
                    time.sleep(0.01)
            except OSError as error:
                return errno.errorcode[error.errno]
        """)
    directory = str(tmp_path / "s") if allowed else None
    async with bounded_engine(scratch_directory=directory, scratch_max_bytes=1 << 20) as engine:
        assert await engine.run(path) == "ENOSPC"


async def test_files_that_are_open_cannot_outgrow_the_limit_for_long(program, tmp_path, monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.worker.watch.scratch.LOOK_SECONDS", 0.0)
    path = program("""
        import asyncio
        async def main(input):
            files = [open(f"/scratch/{n}", "wb", buffering=0) for n in range(3)]
            for file in files:
                file.write(bytes(1 << 20))
            await asyncio.Event().wait()
        """)
    async with bounded_engine(scratch_directory=str(tmp_path / "s"), scratch_max_bytes=1 << 20) as engine:
        await ended_by(await launch(engine, path), "Scratch limit of 1 MiB exceeded")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("bob", "bob"),
        ("Bob", "%42ob"),
        ("a b", "a%20b"),
        ("..", "%2e."),
        ("a/b", "a%2fb"),
        ("é", "%c3%a9"),
        ("%", "%25"),
    ],
)
def test_names_are_encoded_for_file_systems_that_ignore_case(name, file):
    assert encoded(name) == file


def test_directories_are_private(tmp_path):
    made = scratch_directory(tmp_path / "new" / "root", "user", "program")
    for level in (made, made.parent, made.parent.parent):
        assert level.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_is_there_is_used(tmp_path):
    first = scratch_directory(tmp_path, "user", "program")
    (first / "kept").touch()
    assert os.listdir(scratch_directory(tmp_path, "user", "program")) == ["kept"]
