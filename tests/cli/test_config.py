import json


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


def test_set_writes_nothing_that_does_not_hold(pie, home):
    ended = pie("config", "set", "model.0.engine.kv_page_size", "7")
    assert (ended.code, list(home.iterdir())) == (1, [])


def test_the_configuration_can_be_another_file(pie, tmp_path):
    (tmp_path / "c.toml").write_text('[[model]]\nname = "x"\nhf_repo = "y"\n')
    assert pie("-c", tmp_path / "c.toml", "config", "get", "model.0.hf_repo").out == "y\n"


def test_schema_lists_every_key(pie):
    schema = json.loads(pie("config", "schema", "--json").out)
    assert schema["model.0.engine.kv_page_size"] == {"default": 16, "description": "tokens per page"}
