import tomllib

import pytest

from pie_mlx.config.loading import flatten, resolve
from pie_mlx.config.schema import KEYS
from pie_mlx.config.writing import commented_file, with_setting
from pie_mlx.errors import ConfigError


def loaded(text):
    return resolve(flatten(tomllib.loads(text), "file"), {}).config


def test_the_fresh_file_holds_and_says_what_the_defaults_say():
    assert loaded(commented_file()) == resolve({}, {}).config


def test_the_fresh_file_names_every_key():
    assert [key for key in KEYS if f"{key.rpartition('.')[2]} = " not in commented_file()] == []


def test_setting_a_value_keeps_comments():
    text = with_setting("# mine\n" + commented_file(), "model.0.engine.kv_page_size", "32", "file")
    assert text.startswith("# mine\n")
    assert loaded(text).model[0].engine.kv_page_size == 32


@pytest.mark.parametrize("text", ["", "[server]\nport = 1\n"])
def test_the_first_setting_of_a_model_adds_the_model(text):
    model = loaded(with_setting(text, "model.0.engine.type", "dummy", "file")).model[0]
    assert (model.hf_repo, model.engine.type) == ("pie-tiny", "dummy")


def test_the_first_setting_of_a_model_leaves_its_name_to_what_is_loaded():
    model = loaded(with_setting("", "model.0.hf_repo", "org/other", "file")).model[0]
    assert (model.name, model.hf_repo) == ("other", "org/other")


@pytest.mark.parametrize(
    "text",
    ["", '[[model]]\nhf_repo = "pie-tiny"  # small\n\n[server]\nport = 1\n', 'model = [{hf_repo = "pie-tiny"}]\n'],
    ids=["no file", "tables", "inline"],
)
def test_the_repo_of_a_model_after_the_last_adds_it(text):
    added = with_setting(text, "model.1.hf_repo", "org/other", "file")
    assert [model["hf_repo"] for model in tomllib.loads(added)["model"]] == ["pie-tiny", "org/other"]
    assert "# small" in added or "# small" not in text
    assert [model.engine.kv_memory_fraction for model in loaded(added).model] == [0.4, 0.4]
    named = with_setting(added, "model.1.engine.total_pages", "9", "file")
    assert tomllib.loads(named)["model"][1]["engine"] == {"total_pages": 9}


def test_a_setting_of_something_else_adds_no_model():
    assert with_setting("", "server.port", "9000", "file") == "[server]\nport = 9000\n"


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("model.0.engine.kv_page_size", "17", "one of 8, 16, 32"),
        ("model.0.engine.pages", "1", "no such key"),
        ("model.3.engine.type", "dummy", "there is no model.3"),
        ("mcp.0.url", "http://x", "there is no mcp.0"),
        ("server.host", "0.0.0.0", "refusing to listen"),
    ],
)
def test_a_result_that_does_not_hold_is_refused(path, value, why):
    with pytest.raises(ConfigError, match=why):
        with_setting(commented_file(), path, value, "file")
