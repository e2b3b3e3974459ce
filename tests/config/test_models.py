"""Several models in the configuration."""

import pytest

from pie_mlx.config.loading import flatten, resolve
from pie_mlx.documents import toml_document
from pie_mlx.errors import ConfigError
from pie_mlx.runtime.configured import engine_settings, keep_alive_seconds

TWO = """
[aliases]
"llama3.2" = "router"

[[model]]
name = "main"
hf_repo = "pie-tiny"

[[model]]
name = "router"
hf_repo = "pie-tiny"
load = "lazy"
keep_alive = "5m"
"""


def loaded(text):
    return resolve(flatten(toml_document(text), "file"), {}).config


def test_an_alias_may_have_a_dot():
    assert loaded(TWO).aliases == {"llama3.2": "router"}


def test_each_model_has_its_own_way_of_being_loaded(tmp_path):
    main, router = (engine_settings(model, tmp_path) for model in loaded(TWO).model)
    assert (main.load, main.keep_alive_seconds) == ("eager", None)
    assert (router.load, router.keep_alive_seconds) == ("lazy", 300.0)


@pytest.mark.parametrize(("text", "seconds"), [("forever", None), ("0", 0.0), ("30s", 30.0), ("2h", 7200.0)])
def test_a_time_is_written_as_people_do(text, seconds):
    assert keep_alive_seconds(text) == seconds


@pytest.mark.parametrize("alias", ['"x" = "nobody"', '"main" = "router"'])
def test_an_alias_of_no_model_or_with_the_name_of_one_is_refused(alias):
    with pytest.raises(ConfigError, match="aliases"):
        loaded(TWO.replace('"llama3.2" = "router"', alias))


def test_another_time_is_refused():
    with pytest.raises(ConfigError, match="keep_alive"):
        loaded(TWO.replace("5m", "soon"))
