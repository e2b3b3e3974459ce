"""The main file decides in which language a program is written."""

from pathlib import Path

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.language import JAVASCRIPT, PYTHON, language_of, main_in
from pie_mlx.runtime.program.program import examine_program, find_program, looks_like_path
from pie_mlx.runtime.store import ProgramStore

MAIN = "export async function main(input) { return input; }\n"


def write(directory: Path, **files: str) -> Path:
    for name, text in files.items():
        file = directory / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return directory


@pytest.mark.parametrize("name", ["x.js", "x.mjs", "x.ts", "x.mts"])
def test_these_suffixes_are_javascript(name: str) -> None:
    assert language_of(Path(name)) is JAVASCRIPT


@pytest.mark.parametrize("name", ["x.py", "x", "x.txt"])
def test_everything_else_is_read_as_python(name: str) -> None:
    assert language_of(Path(name)) is PYTHON


@pytest.mark.parametrize(
    ("files", "main"),
    [
        ({"main_py": "", "index_js": ""}, "main.py"),
        ({"main_ts": "", "index_js": ""}, "main.ts"),
        ({"index_mjs": "", "index_js": ""}, "index.mjs"),
        ({"package_json": '{"main": "./lib/start.js"}', "lib__start_js": "", "index_js": ""}, "lib/start.js"),
        ({"package_json": '{"name": "x"}', "index_js": ""}, "index.js"),
    ],
)
def test_a_directory_has_one_main_file(tmp_path: Path, files: dict[str, str], main: str) -> None:
    assert main_in(write(tmp_path, **files)) == tmp_path / main


def test_a_directory_without_a_main_file_is_no_program(tmp_path: Path) -> None:
    assert main_in(write(tmp_path, other_js="")) is None


@pytest.mark.parametrize(
    ("package", "problem"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"main": 1}', "not a path"),
        ('{"main": "../up.js"}', "not a path"),
        ('{"main": "/etc/up.js"}', "not a path"),
        ('{"main": "a.cjs"}', "not a .ts"),
        ('{"main": "gone.js"}', "no such file"),
    ],
)
def test_a_broken_package_json_is_named(tmp_path: Path, package: str, problem: str) -> None:
    write(tmp_path, package_json=package, a_cjs="")
    with pytest.raises(LaunchError, match=problem):
        find_program(tmp_path)


def test_a_module_without_the_entry_is_refused(tmp_path: Path) -> None:
    write(tmp_path, main_js="export async function start(input) {}\n")
    _, findings = examine_program(tmp_path)
    assert findings == [f"{tmp_path / 'main.js'}: no 'export async function main(input)'"]


def test_a_main_file_may_hold_its_manifest(tmp_path: Path) -> None:
    text = f'// /// pie\n// [package]\n// name = "told"\n// version = "1.2.3"\n// ///\n{MAIN}'
    assert find_program(write(tmp_path, any_ts=text) / "any.ts").identity == "told@1.2.3"


def test_a_file_and_a_directory_are_installed_and_found_again(tmp_path: Path) -> None:
    store = ProgramStore(tmp_path / "home")
    write(tmp_path, alone_ts=MAIN, folder__index_js=MAIN)
    for path, main in ((tmp_path / "alone.ts", "main.ts"), (tmp_path / "folder", "index.js")):
        store.install_path(path)
        found = store.find(path.stem).program
        assert (found.main_file.name, found.main_file.read_text()) == (main, MAIN)


def test_words_with_these_suffixes_are_paths(tmp_path: Path) -> None:
    write(tmp_path, index_js=MAIN)
    assert all(map(looks_like_path, ("a.ts", "a.js", "a.mjs", str(tmp_path))))
