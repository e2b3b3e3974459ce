import json

MAIN = "async def main(input): ...\n"


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
    (home / "config.toml").write_text("[server]\nport = 1\n[clint]\nx = 1\n")
    ended = pie("check")
    assert ended.code == 1
    assert len(ended.out.splitlines()) == 3


def test_another_toml_is_a_configuration(pie, tmp_path):
    (tmp_path / "mine.toml").write_text("[[model]]\n")
    ended = pie("check", tmp_path / "mine.toml")
    assert ended.code == 1
    assert "model.0.name: missing" in ended.out
