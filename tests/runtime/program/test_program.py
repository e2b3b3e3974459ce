import dataclasses
import gc
import sys
import threading
from pathlib import Path

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.program import examine_program, find_program, looks_like_path
from pie_mlx.runtime.program.source_text import parse_source

MAIN = "async def main(input):\n    return 1\n"
MANIFEST = '[package]\nname = "demo"\nversion = "0.2.0"\n'


@pytest.fixture
def directory(tmp_path):
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "main.py").write_text(MAIN)
    return folder


def test_a_lone_file_is_named_after_itself(tmp_path):
    file = tmp_path / "my prog.py"
    file.write_text(MAIN)
    program = find_program(file)
    assert program.identity == "my-prog@0.0.0"
    assert program.directory is None


def test_a_lone_file_may_carry_its_manifest(tmp_path):
    file = tmp_path / "a.py"
    file.write_text('# /// pie\n# [package]\n# name = "inside"\n# version = "1.0.0"\n# ///\n' + MAIN)
    assert find_program(file).identity == "inside@1.0.0"


def test_a_directory_is_named_by_its_manifest(directory):
    (directory / "Pie.toml").write_text(MANIFEST)
    program = find_program(directory)
    assert program.identity == "demo@0.2.0"
    assert program.main_file == directory / "main.py"


def test_a_directory_without_a_manifest_is_named_after_itself(directory):
    assert find_program(directory).identity == "demo@0.0.0"


def test_another_manifest_can_be_named(directory, tmp_path):
    (tmp_path / "other.toml").write_text(MANIFEST.replace("demo", "other"))
    assert find_program(directory, tmp_path / "other.toml").identity == "other@0.2.0"


@pytest.mark.parametrize(
    "source",
    [
        "def main(input): ...\n",
        "from flow import main\n",
        "from flow import run as main\n",
        "if True:\n    async def main(input): ...\n",
        "main = object()\n",
        "try:\n    import x as main\nexcept ImportError:\n    pass\n",
    ],
)
def test_an_entry_bound_at_the_top_level_is_found_without_executing(tmp_path, source):
    file = tmp_path / "a.py"
    file.write_text(source)
    assert find_program(file).identity == "a@0.0.0"


@pytest.mark.parametrize(
    "source", ["", "print(1)\n", "def f():\n    main = 1\n", "class A:\n    def main(self): ...\n"]
)
def test_a_program_without_main_is_refused(tmp_path, source):
    file = tmp_path / "a.py"
    file.write_text(source)
    with pytest.raises(LaunchError, match=r"a\.py: no 'async def main\(input\)'"):
        find_program(file)


def test_the_manifest_may_name_another_entry(directory):
    (directory / "Pie.toml").write_text(MANIFEST + '[runtime]\nentry = "start"\n')
    with pytest.raises(LaunchError, match="no 'async def start"):
        find_program(directory)


def test_a_syntax_error_is_refused_with_its_line(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("async def main(input):\n    return (\n")
    with pytest.raises(LaunchError, match=r"a\.py:2: '\(' was never closed"):
        find_program(file)


def test_what_is_not_there_is_said_so(tmp_path):
    with pytest.raises(LaunchError, match="no such file"):
        find_program(tmp_path / "nothing.py")


def test_a_directory_without_main_is_refused(tmp_path):
    with pytest.raises(LaunchError, match=r"no main\.py"):
        find_program(tmp_path)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(LaunchError, match=r"not UTF-8 \(byte 0\)"):
        find_program(file)


def test_a_packed_program_is_refused(tmp_path):
    with pytest.raises(LaunchError, match="installed before it is run"):
        find_program(tmp_path / "demo-0.1.0.pie")


def test_examining_lists_manifest_and_source_findings_together(directory):
    (directory / "Pie.toml").write_text('[package]\nname = "demo"\n')
    (directory / "main.py").write_text("print(1)\n")
    manifest, findings = examine_program(directory)
    assert manifest is None
    assert findings == ["[package] version: missing", f"{directory / 'main.py'}: no 'async def main(input)'"]


@pytest.mark.parametrize("word", ["a/b", "./x", "x.py", "x.pie"])
def test_words_that_are_paths(word):
    assert looks_like_path(word)


def test_a_directory_is_a_path_when_it_holds_a_program(directory, monkeypatch):
    monkeypatch.chdir(directory.parent)
    Path("empty").mkdir()
    assert looks_like_path("demo")
    assert not looks_like_path("empty")
    assert not looks_like_path("text-completion")


@pytest.fixture
def other_threads_come_between():
    """Wherever Python can change threads while it makes a syntax tree, it does."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    gc.callbacks.append(turn := lambda *_: None)
    gc.set_threshold(10)
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)
    gc.callbacks.remove(turn)


def test_programs_are_read_by_several_threads_at_once(other_threads_come_between):
    source = "def f(x):\n" + "    y = ((x + 1) * (x - 1), [x, {x: (x, x)}])\n" * 20
    errors = []

    def read():
        try:
            for _ in range(60):
                parse_source(source, Path("a.py"))
        except SystemError as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.mark.parametrize(("owner", "name"), [("", "hi"), ("ada", "hi"), ("bob", "bob:hi")])
def test_programs_of_others_have_another_name_for_a_user(tmp_path, owner, name):
    (tmp_path / "hi.py").write_text(MAIN)
    program = dataclasses.replace(find_program(tmp_path / "hi.py"), owner=owner)
    assert program.name_for("ada") == name
