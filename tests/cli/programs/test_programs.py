import json

import pytest

from tests.cli.schemas import parsed
from tests.runtime.store.programs import MAIN, manifest, write_directory
from tests.wasm.components import component, wasm


@pytest.fixture(autouse=True)
def inline(monkeypatch):
    """What is looked at here is which program is run, not where."""
    monkeypatch.setenv("PIE_RUNTIME__ISOLATION", "inline")


@pytest.fixture
def demo(tmp_path):
    text = manifest() + 'description = "A demo"\n[parameters]\nn = { type = "int", default = 3, min = 1 }\n'
    return write_directory(tmp_path / "demo", text)


def test_a_package_is_built_beside_its_program(pie, demo):
    ended = pie("build", demo)
    assert (ended.code, ended.out) == (0, f"{demo / 'dist' / 'demo-0.1.0.pie'}\n")
    assert [file.name for file in (demo / "dist").iterdir()] == ["demo-0.1.0.pie"]


def test_the_same_files_give_the_same_digest(pie, demo, tmp_path):
    first = parsed("build", pie("build", demo, "--json").out)
    second = parsed("build", pie("build", demo, "--json", "-o", tmp_path / "other.pie").out)
    assert (first["digest"], first["program"]) == (second["digest"], "demo@0.1.0")


def test_a_file_can_be_a_package(pie, tmp_path):
    (tmp_path / "one.py").write_bytes(MAIN)
    assert pie("build", tmp_path / "one.py").code == 0
    assert pie("install", tmp_path / "dist" / "one-0.0.0.pie").out == "one@0.0.0\n"


def test_what_does_not_hold_is_not_built(pie, demo):
    (demo / "main.py").write_text("x = (\n")
    ended = pie("build", demo)
    assert (ended.code, (demo / "dist").exists()) == (1, False)
    assert ended.err.endswith("main.py:1: '(' was never closed\n     try: correct the syntax\n")


def test_installed_programs_are_listed(pie, demo):
    assert parsed("install", pie("install", demo, "--json").out)["kind"] == "package"
    (row,) = parsed("list", pie("list", "--json").out)
    assert (row["program"], row["owner"]) == ("demo@0.1.0", "local")
    heading, line = pie("list").out.splitlines()
    assert (heading.split()[0], line.split()[0]) == ("PROGRAM", "demo@0.1.0")
    assert pie("list", "-q").out == "demo@0.1.0\n"


def test_a_program_that_answers_requests_is_listed_as_such(pie, demo):
    (demo / "main.py").write_text("async def handle(request):\n    return {}\n")
    (demo / "Pie.toml").write_text((demo / "Pie.toml").read_text() + '[runtime]\nentry = "handle"\n')
    pie("install", demo)
    assert "answers requests" in pie("list").out
    assert parsed("list", pie("list", "--json").out)[0]["answers_requests"] is True
    assert "answers HTTP requests" in pie("show", "demo").out


def test_without_programs_the_list_is_empty(pie):
    assert parsed("list", pie("list", "--json").out) == []
    ended = pie("list")
    assert (ended.code, ended.out) == (0, "")
    assert "pie install" in ended.err


def test_other_contents_need_force(pie, demo):
    pie("install", demo)
    (demo / "more.py").write_text("")
    ended = pie("install", demo)
    assert ended.code == 1
    assert ended.err.startswith("pie: Program 'demo@0.1.0' is already installed with different contents")
    assert ended.err.endswith("try: pie install --force\n")
    assert pie("install", "--force", demo).code == 0


def test_a_damaged_program_is_no_reason_to_list_nothing(pie, demo, home):
    pie("install", demo)
    pie("install", write_directory(demo.parent / "other", manifest("other")))
    (home / "programs" / "demo" / "0.1.0" / "meta.json").write_text("{")
    ended = pie("list", "-q")
    assert (ended.code, ended.out) == (0, "other@0.1.0\n")
    assert "warning: program 'demo@0.1.0': its record is damaged" in ended.err


@pytest.mark.parametrize("verb", [["show"], ["inferlet", "info"]])
def test_a_program_is_shown_with_its_parameters_and_manifest(pie, demo, verb):
    pie("install", demo)
    lines = pie(*verb, "demo").out.splitlines()
    assert lines[0] == "demo@0.1.0  A demo"
    assert "  n  int (default 3)" in lines
    assert '  name = "demo"' in lines


def test_a_program_is_shown_as_json(pie, demo):
    pie("install", demo)
    shown = parsed("show", pie("show", "demo@latest", "--json").out)
    assert shown["parameters"] == [
        {"name": "n", "type": "int", "required": False, "description": "", "min": 1, "default": 3}
    ]
    assert shown["manifest"] == (demo / "Pie.toml").read_text()


@pytest.mark.parametrize("verb", ["show", "remove"])
def test_what_is_not_installed_is_said_so(pie, verb):
    ended = pie(verb, "nothing")
    assert ended.code == 1
    assert ended.err.startswith("pie: program 'nothing@latest' is not installed")


@pytest.mark.parametrize("verb", ["show", "remove"])
def test_what_is_no_name_is_said_so(pie, verb):
    assert "Invalid program identifier 'a/b'" in pie(verb, "a/b").err


def installed(pie):
    return pie("list", "-q").out.split()


@pytest.fixture
def three(pie, tmp_path):
    for version in ("0.1.0", "0.2.0", "0.3.0"):
        pie("install", write_directory(tmp_path / "demo", manifest(version=version)))


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("demo", []),
        ("demo@0.1.0", ["demo@0.2.0", "demo@0.3.0"]),
        ("demo@latest", ["demo@0.1.0", "demo@0.2.0"]),
    ],
)
@pytest.mark.usefixtures("three")
def test_one_version_or_all_are_removed(pie, name, left):
    removed = parsed("remove", pie("remove", "-y", "--json", name).out)["removed"]
    assert sorted([*removed, *left]) == ["demo@0.1.0", "demo@0.2.0", "demo@0.3.0"]
    assert installed(pie) == left


@pytest.mark.usefixtures("three")
def test_nothing_is_removed_where_nobody_can_say_yes(pie):
    ended = pie("remove", "demo")
    assert (ended.code, len(installed(pie))) == (2, 3)
    assert "confirm with -y" in ended.err


@pytest.mark.usefixtures("three")
def test_the_files_of_every_user_go_when_asked(pie, home):
    for user in ("ada", "bob"):
        (home / "scratch" / user / "demo").mkdir(parents=True)
        (home / "scratch" / user / "other").mkdir()
    assert pie("remove", "-y", "demo@0.1.0").code == 0
    assert (home / "scratch" / "ada" / "demo").exists()
    assert pie("remove", "-y", "--scratch", "demo").code == 0
    assert sorted(p.name for p in (home / "scratch").glob("*/*")) == ["other", "other"]


def test_an_installed_program_is_run_by_its_name(pie, demo):
    pie("install", demo)
    assert pie("run", "--dummy", "-q", "demo").out == "done\n"
    assert pie("run", "--dummy", "-q", "demo@0.1.0").out == "done\n"


def test_a_package_is_run_without_being_installed(pie, demo):
    pie("build", demo)
    assert pie("run", "--dummy", "-q", demo / "dist" / "demo-0.1.0.pie").out == "done\n"
    assert installed(pie) == []


def test_a_program_on_disk_finds_its_dependencies_among_the_installed(pie, tmp_path):
    pie("install", write_directory(tmp_path / "lib", manifest("my-lib", "1.0.0"), words="X = 'from lib'\n"))
    app = write_directory(tmp_path / "app", manifest("app") + '[dependencies]\nmy-lib = "^1.0.0"\n')
    (app / "main.py").write_text("from my_lib.words import X\nasync def main(input):\n    return X\n")
    assert pie("run", "--dummy", "-q", app).out == "from lib\n"


def test_a_program_launches_the_version_it_depends_on_and_others_by_their_names(pie, tmp_path):
    for name, version in (("helper", "1.0.0"), ("helper", "2.0.0"), ("other", "3.0.0")):
        folder = write_directory(tmp_path / "x", manifest(name, version))
        (folder / "main.py").write_text(f"async def main(input):\n    return '{name} {version}'\n")
        pie("install", folder)
    app = write_directory(tmp_path / "app", manifest("app", helper="^1.0.0"))
    (app / "main.py").write_text(
        "from inferlet import runtime\n"
        "async def main(input):\n"
        "    return [await runtime.launch(name, {}).result() for name in ('helper', 'other')]\n"
    )
    assert pie("run", "--dummy", "-q", app).out == '["helper 1.0.0", "other 3.0.0"]\n'


def test_words_that_do_not_fit_an_installed_program_are_a_wrong_command_line(pie, demo):
    pie("install", demo)
    ended = pie("run", "--dummy", "demo", "--", "--n", "many")
    assert ended.code == 2
    assert "parameter 'n': expected int" in ended.err


def test_running_what_is_not_installed_says_so(pie):
    ended = pie("run", "--dummy", "nothing")
    assert ended.code == 1
    assert ended.err == (
        "pie: program 'nothing' is not installed\n     try: 'pie list' shows what is, 'pie install PATH' installs\n"
    )


def test_a_name_of_which_a_file_lies_here_is_answered_with_the_file(pie, demo, monkeypatch):
    (demo / "boom.py").write_text("async def main(input): ...\n")
    monkeypatch.chdir(demo)
    ended = pie("run", "--dummy", "boom")
    assert (ended.code, ended.err) == (1, "pie: program 'boom' is not installed\n     try: did you mean 'boom.py'?\n")


@pytest.mark.parametrize("name", ["text-completion", "text-completion@latest", "text-completion@1.0.0"])
def test_programs_that_come_with_the_engine_run_where_none_has_run_yet(pie, name):
    ended = pie("run", "--dummy", name, "--", "--prompt", "Hello", "--max-tokens", 2)
    assert (ended.code, ended.err) == (0, "")


def test_another_version_of_a_program_that_comes_with_the_engine_is_not_installed(pie):
    assert "program 'text-completion@9.0.0' is not installed" in pie("run", "text-completion@9.0.0").err


def test_errors_are_json_when_asked(pie):
    assert json.loads(pie("--json", "show", "nothing").err)["error"]["type"] == "LaunchError"


def test_a_program_is_removed_by_its_full_name_only_where_its_owner_has_it(pie, demo):
    pie("install", demo)
    ended = pie("remove", "a@b:demo", "-y")
    assert (ended.code, "belongs to the user 'local'" in ended.err) == (1, True)
    assert pie("remove", "local:demo", "-y").out == "removed demo@0.1.0\n"


def test_a_damaged_program_is_removed(pie, demo, home):
    pie("install", demo)
    (home / "programs" / "demo" / "0.1.0" / "meta.json").write_text("{")
    assert pie("remove", "demo", "-y").out == "removed demo@0.1.0\n"


def test_a_component_is_installed_with_the_manifest_that_is_named(pie, tmp_path):
    (tmp_path / "built.wasm").write_bytes(wasm(component()))
    (tmp_path / "Pie.toml").write_text(manifest("greeter"))
    ended = pie("install", tmp_path / "built.wasm", "--manifest", tmp_path / "Pie.toml")
    assert (ended.code, ended.out) == (0, "greeter@0.1.0\n")
    assert 'name = "greeter"' in pie("show", "greeter").out
