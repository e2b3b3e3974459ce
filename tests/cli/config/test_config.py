import fcntl
import json
import shutil
import stat
import tomllib

import jsonschema
import pytest

from pie_mlx.engine.model.loading.sources import EMBEDDED
from tests.cli.schemas import parsed


def test_show_prints_every_value_with_its_origin(pie, monkeypatch):
    monkeypatch.setenv("PIE_MODEL__0__ENGINE__TOTAL_PAGES", "9")
    rows = {line.split()[0]: line.split()[1:] for line in pie("config", "show").out.splitlines()}
    assert rows["model.0.engine.total_pages"] == ["9", "PIE_MODEL__0__ENGINE__TOTAL_PAGES"]
    assert rows["model.0.hf_repo"] == ["pie-tiny", "default"]


def test_get_finds_a_model_by_number_or_name(pie):
    assert pie("config", "get", "model.0.hf_repo").out == "pie-tiny\n"
    assert pie("config", "get", "model.pie-tiny.engine.total_pages").out == "unset\n"
    assert json.loads(pie("config", "get", "--json", "model.0.engine.random_seed").out) == 42


def test_init_writes_a_file_once(pie, home):
    assert pie("config", "init").code == 0
    assert pie("check").code == 0
    again = pie("config", "init")
    assert (again.code, "exists" in again.err) == (1, True)
    assert pie("config", "init", "--force").code == 0
    assert (home / "config.toml").exists()


def test_set_changes_one_value(pie, home):
    assert pie("config", "set", "model.pie-tiny.engine.kv_page_size", "32").code == 0
    assert pie("config", "get", "model.0.engine.kv_page_size").out == "32\n"
    assert [path.name for path in home.iterdir()] == ["config.toml"]


def test_set_says_that_a_running_engine_does_not_change(pie, home):
    (home / "run").mkdir()
    with (home / "run" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "'pie stop'" in pie("config", "set", "server.port", "8081").err
    assert pie("config", "set", "server.port", "8082").err == ""


@pytest.mark.parametrize("text", ["https://a.b,http://c:1", '["https://a.b", "http://c:1"]'])
def test_a_list_is_set_with_commas_or_in_brackets(pie, text):
    assert pie("config", "set", "server.allowed_origins", text).code == 0
    assert json.loads(pie("config", "get", "server.allowed_origins").out) == ["https://a.b", "http://c:1"]


def test_addresses_in_brackets_are_items_of_a_list(pie):
    assert pie("config", "set", "runtime.network_allowed_hosts", "[::1]:443,a.b").code == 0
    assert json.loads(pie("config", "get", "runtime.network_allowed_hosts").out) == ["[::1]:443", "a.b"]


def test_set_keeps_the_directory_of_a_model_for_whoever_stands_elsewhere(pie, home, tmp_path, monkeypatch):
    shutil.copytree(EMBEDDED / "pie-tiny", tmp_path / "m4")
    monkeypatch.chdir(tmp_path)
    ended = pie("config", "set", "model.0.hf_repo", "./m4")
    assert (ended.code, ended.err) == (0, "")
    assert pie("config", "get", "model.m4.hf_repo").out == f"{tmp_path / 'm4'}\n"


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("nosuch/x", "nosuch/x is not on this disk, 'pie model download nosuch/x' fetches it"),
        ("./m5", "m5 is not on this disk\n"),
        (".", "config.json"),
    ],
)
def test_set_says_that_a_model_cannot_be_loaded_yet(pie, tmp_path, monkeypatch, reference, why):
    monkeypatch.chdir(tmp_path)
    ended = pie("config", "set", "model.0.hf_repo", reference)
    assert ended.code == 0
    assert ended.err.startswith("pie: warning: ")
    assert why in ended.err


def test_a_draft_model_may_be_another_configured_model(pie, home):
    (home / "config.toml").write_text(
        '[[model]]\nname = "a"\nhf_repo = "pie-tiny"\n[[model]]\nname = "b"\nhf_repo = "c/d"\n'
    )
    ended = pie("config", "set", "model.a.engine.draft_model", "b")
    assert (ended.code, ended.err) == (0, "")
    assert pie("config", "get", "model.a.engine.draft_model").out == "b\n"


def test_set_writes_nothing_that_does_not_hold(pie, home):
    ended = pie("config", "set", "model.0.engine.kv_page_size", "7")
    assert (ended.code, list(home.iterdir())) == (1, [])


def test_the_configuration_can_be_another_file(pie, tmp_path):
    (tmp_path / "c.toml").write_text('[[model]]\nname = "x"\nhf_repo = "y"\n')
    assert pie("-c", tmp_path / "c.toml", "config", "get", "model.0.hf_repo").out == "y\n"


def test_show_hides_what_may_be_a_secret(pie, home):
    (home / "config.toml").write_text(
        '[[mcp]]\nname = "a.b"\ntransport = "http"\nurl = "http://x"\nheaders = { Authorization = "SECRET" }\n'
    )
    assert "SECRET" not in pie("config", "show").out + pie("config", "show", "--json").out
    assert pie("config", "get", "mcp.a.b.url").out == "http://x\n"


def test_show_is_json_when_asked(pie):
    rows = {row["key"]: row for row in parsed("config show", pie("config", "show", "--json").out)}
    assert rows["server.port"] == {"key": "server.port", "value": 8080, "origin": "default"}


def test_schema_is_the_json_schema_of_the_file(pie, home):
    schema = json.loads(pie("config", "schema").out)
    pie("config", "init")
    jsonschema.validate(tomllib.loads((home / "config.toml").read_text()), schema)
    for wrong in ({"server": {"port": -1}}, {"server": {"prt": 1}}, {"model": [{"name": "a"}]}, {"nonsense": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_a_file_that_is_written_is_the_users_alone(pie, home):
    pie("config", "init")
    pie("config", "set", "server.port", "9000")
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600


def test_lists_are_set_by_commas(pie, home):
    assert pie("config", "set", "runtime.environment", "TZ, LANG").code == 0
    assert pie("config", "get", "--json", "runtime.environment").out == '["TZ", "LANG"]\n'


def test_lists_are_printed_as_the_file_has_them(pie):
    pie("config", "set", "runtime.environment", "TZ, LANG")
    assert pie("config", "get", "runtime.environment").out == '["TZ", "LANG"]\n'
    assert '["TZ", "LANG"]' in pie("config", "show").out


def test_keys_without_effect_are_said_once(pie, home):
    (home / "config.toml").write_text('[server]\nregistry = "https://x"\n')
    ended = pie("config", "get", "server.port")
    assert (ended.code, ended.out) == (0, "8080\n")
    assert ended.err == f"pie: warning: server.registry ({home / 'config.toml'}) has no effect here\n"


def test_more_run_ahead_than_there_is_counts_as_one(pie, home):
    pie("config", "set", "model.0.scheduler.speculation_depth", "4")
    ended = pie("config", "get", "model.0.scheduler.speculation_depth")
    assert ended.out == "4\n"
    assert "counts as 1" in ended.err
