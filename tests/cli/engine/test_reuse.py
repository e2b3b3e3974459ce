"""`--model` where an engine runs."""

import pytest

from pie_mlx.cli.engine.reuse import DUMMY, served_source
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.dispatch import chosen_engine
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.engine.model.loading.sources import EMBEDDED
from pie_mlx.engine.settings import EngineSettings
from tests.server.running import RunningServer


@pytest.fixture
def serving(tmp_path, monkeypatch):
    """Starts an engine that says it serves a model, called dummy, and stands where there is a directory m4."""
    started = []

    def serving(model, **others):
        source = model if model == DUMMY else served_source(EngineSettings(model))
        started.append(RunningServer(tmp_path / "home", source=source, others=others).start())
        return started[-1]

    (tmp_path / "m4").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIE_HOME", str(tmp_path / "home"))
    yield serving
    for server in started:
        server.stop()


def chosen(model, **given):
    return chosen_engine(RunRequest(EMBEDDED, model=model, **given), Common())


@pytest.mark.parametrize(
    ("served", "wanted"),
    [
        ("./m4", "./m4"),
        ("./m4", "m4"),
        ("./m4", "../{here}/m4"),
        ("pie-tiny", "pie-tiny"),
        ("pie-tiny", str(EMBEDDED / "pie-tiny")),
        ("org/x", "org/x"),
        ("./m4", "dummy"),
    ],
)
def test_an_engine_that_serves_the_model_is_used(serving, tmp_path, capsys, served, wanted):
    server = serving(served)
    found = chosen(wanted.format(here=tmp_path.name))
    assert (found and (found.address.url, found.model), capsys.readouterr().err) == ((server.url, ""), "")


@pytest.mark.parametrize("wanted", ["./m4", "router"])
def test_of_an_engine_with_several_models_the_wanted_one_is_used(serving, tmp_path, capsys, wanted):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text(f'[[model]]\nname = "router"\nhf_repo = "{tmp_path}/m4"\n')
    server = serving("pie-tiny", router=served_source(EngineSettings("./m4")), small="org/x")
    found = chosen(wanted)
    assert (found and (found.address.url, found.model), capsys.readouterr().err) == ((server.url, "router"), "")


def test_of_models_with_the_same_weights_the_one_of_that_name_is_used(serving, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text('[[model]]\nname = "router"\nhf_repo = "pie-tiny"\n')
    serving("pie-tiny", router=served_source(EngineSettings("pie-tiny")))
    assert [found and found.model for found in (chosen("router"), chosen("pie-tiny"))] == ["router", ""]


def test_a_second_engine_is_announced_with_all_models_of_the_first(serving, capsys):
    serving("pie-tiny", router="org/x")
    assert chosen("./m4") is None
    assert capsys.readouterr().err.endswith("the running one serves dummy, router\n")


@pytest.mark.parametrize(
    ("served", "wanted", "theirs"),
    [("pie-tiny", "./m4", "dummy"), ("org/x", "org/y", "dummy"), (DUMMY, "pie-tiny", DUMMY), (DUMMY, "dummy", DUMMY)],
)
def test_a_second_engine_is_announced_with_the_model_of_the_first(serving, capsys, served, wanted, theirs):
    serving(served)
    assert chosen(wanted) is None
    said = f"pie: a second engine is started for {wanted}: the running one serves {theirs}\n"
    assert capsys.readouterr().err == said


def test_an_engine_of_its_own_that_was_asked_for_is_not_announced(serving, capsys):
    serving("./m4")
    assert chosen("./m4", one_shot=True) is None
    assert capsys.readouterr().err == ""


def test_nothing_is_said_where_no_engine_runs(serving, capsys):
    assert chosen("./m4") is None
    assert capsys.readouterr().err == ""


def test_an_engine_elsewhere_is_not_asked_for_its_model(serving, capsys, monkeypatch):
    serving("./m4")
    monkeypatch.setenv("PIE_URL", "ws://elsewhere:1")
    assert chosen("./m4") is None
    assert capsys.readouterr().err.endswith("the model of ws://elsewhere:1 is unknown\n")


def test_the_configured_name_of_a_model_means_what_it_is(serving, tmp_path):
    server = serving("./m4")
    (tmp_path / "home" / "config.toml").write_text(f'[[model]]\nname = "mine"\nhf_repo = "{tmp_path}/m4"\n')
    found = chosen("mine")
    assert found is not None
    assert found.address.url == server.url
