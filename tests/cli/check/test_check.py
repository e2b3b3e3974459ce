import json

import pytest

from tests.cli.schemas import parsed
from tests.runtime.store.programs import archive, manifest, package, write_directory
from tests.wasm.components import component, wasm

MAIN = "async def main(input): ...\n"
SOCKETS = component(imports='(import "wasi:sockets/tcp@0.2.4" (instance (export "f" (func))))')


def test_a_good_program_is_ok(pie, tmp_path):
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "Pie.toml").write_text(
        '[package]\nname = "demo"\nversion = "0.1.0"\n[parameters]\nn = { type = "int" }\n'
    )
    ended = pie("check", tmp_path)
    assert (ended.code, ended.out) == (0, "demo@0.1.0\n  ok: n\n")


def test_all_findings_are_printed(pie, tmp_path):
    (tmp_path / "main.py").write_text("async def main(input:\n")
    (tmp_path / "Pie.toml").write_text('[package]\nname = "demo"\n')
    ended = pie("check", tmp_path / "Pie.toml")
    assert ended.code == 1
    assert ended.out.splitlines() == [
        str(tmp_path),
        "  error: [package] version: missing",
        f"  error: {tmp_path / 'main.py'}:1: '(' was never closed",
    ]


def test_a_program_that_cannot_run_is_a_finding_and_is_not_executed(pie, tmp_path):
    file = tmp_path / "a.py"
    file.write_text("from inferlet import Nothing\nimport nosuchmod\nraise SystemExit\nasync def main(): ...\n")
    ended = pie("check", file)
    assert ended.code == 1
    assert [line.split(":")[2] for line in ended.out.splitlines()[1:]] == ["1", "2", "4"]


def test_findings_are_json_when_asked(pie, tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    ended = pie("check", "--json", tmp_path / "a.py")
    assert ended.code == 1
    assert [row["subject"] for row in json.loads(ended.out)] == ["a@0.0.0"]


def test_what_the_engine_does_not_have_is_a_finding(pie, tmp_path):
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "Pie.toml").write_text('[package]\nname = "demo"\nversion = "0.1.0"\n[dependencies]\nx = "1.0.0"\n')
    assert "needs program 'x'" in pie("check", tmp_path).out


def test_without_a_path_the_active_configuration_is_checked(pie, home):
    assert pie("check").code == 0
    (home / "config.toml").write_text("[server]\nprt = 1\n[clint]\nx = 1\n")
    ended = pie("check")
    assert ended.code == 1
    assert len(ended.out.splitlines()) == 3


def test_another_toml_is_a_configuration(pie, tmp_path):
    (tmp_path / "mine.toml").write_text("[[model]]\n")
    ended = pie("check", tmp_path / "mine.toml")
    assert ended.code == 1
    assert "model.0.hf_repo: missing" in ended.out


def test_a_package_is_checked_without_unpacking(pie, tmp_path, home):
    (tmp_path / "x.pie").write_bytes(package(("../evil", b"")))
    ended = pie("check", tmp_path / "x.pie")
    assert ended.out.splitlines()[1] == "  error: package: entry '../evil': '..' leaves the package"
    (tmp_path / "y.pie").write_bytes(package())
    assert pie("check", tmp_path / "y.pie").out == "demo@0.1.0\n  ok: no parameters\n"
    assert list(home.iterdir()) == []


def test_the_modules_of_a_package_are_checked(pie, tmp_path):
    main = b"import helper, nosuchmod\nasync def main(input): ...\n"
    entries = [("main.py", main), ("Pie.toml", manifest()), ("helper.py", b"import json\n")]
    (tmp_path / "x.pie").write_bytes(archive(*entries))
    assert pie("check", tmp_path / "x.pie").out.splitlines()[1:] == [
        "  error: main.py:1: no module 'nosuchmod': put it into the program's directory, or install it beside pie-mlx"
    ]


def test_every_missing_dependency_is_a_finding(pie, tmp_path):
    folder = write_directory(tmp_path / "demo", manifest(lib="1.0.0", other="^2.0.0"))
    findings = parsed("check", pie("check", "--json", folder).out)
    assert [row["finding"].split(" (")[0] for row in findings] == [
        "program 'demo@0.1.0': needs program 'lib'",
        "program 'demo@0.1.0': needs program 'other'",
    ]


def test_what_cannot_be_packed_is_a_finding(pie, tmp_path):
    folder = write_directory(tmp_path / "demo", manifest())
    (folder / "link").symlink_to("/etc")
    assert "entry 'link': a symbolic link" in pie("check", folder).out


def test_keys_without_effect_are_warnings(pie, home):
    (home / "config.toml").write_text("[runtime]\nworker_threads = 4\n")
    ended = pie("check")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()[1:]] == ["warning:", "ok:"]
    assert parsed("check", pie("check", "--json").out)[0]["level"] == "warning"


def test_secrets_others_can_read_are_a_warning(pie, home):
    file = home / "config.toml"
    file.write_text('[[mcp]]\nname = "a"\ntransport = "stdio"\ncommand = "x"\nenv = { TOKEN = "y" }\n')
    file.chmod(0o644)
    assert f"warning: {file} may hold secrets" in pie("check").out
    file.chmod(0o600)
    assert "warning" not in pie("check").out


def test_authentication_without_keys_is_an_error(pie, home):
    (home / "config.toml").write_text("[auth]\nenabled = true\n")
    ended = pie("check")
    assert (ended.code, "holds no key" in ended.out) == (1, True)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        (component(), 0, "ok: no parameters"),
        (SOCKETS, 0, "warning: it imports wasi:sockets/tcp: to call that ends it"),
        (SOCKETS.replace("sockets", "nn"), 1, "error: component: it imports 'wasi:nn/tcp@0.2.4', which this engine"),
    ],
    ids=["whole", "sockets", "unknown import"],
)
def test_a_component_is_compiled_and_checked_with_the_manifest_that_is_named(pie, tmp_path, text, code, says):
    (tmp_path / "built.wasm").write_bytes(wasm(text))
    (tmp_path / "Pie.toml").write_text(manifest("demo"))
    ended = pie("check", tmp_path / "built.wasm", "--manifest", tmp_path / "Pie.toml")
    assert (ended.code, ended.out.splitlines()[0], says in ended.out) == (code, "demo@0.1.0", True), ended.out


def test_a_manifest_goes_with_a_program(pie):
    assert pie("check", "--manifest", "Pie.toml").code == 2
