"""Verbs for the models of the running engine, to a server on a thread."""

import re

import pytest

from pie_mlx.cli.engine.running_models import table_row
from tests.cli.schemas import parsed
from tests.server.http.test_models import server

__all__ = ["server"]

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def home(server, monkeypatch):
    """The home of the engine that runs."""
    monkeypatch.setenv("PIE_HOME", str(server.home))
    return server.home


@pytest.fixture
def unloaded(pie, home):
    """The name of a model that is not in memory."""
    assert pie("model", "unload", "router").code == 0
    return "router"


def states(pie):
    return {row["name"]: row["state"] for row in parsed("model ps", pie("model", "ps", "--json").out)}


def test_ps_lists_the_models_of_the_engine_with_their_states(pie, unloaded):
    assert states(pie) == {"main": "loaded", unloaded: "unloaded"}
    assert pie("ps", "--models", "--json").out == pie("model", "ps", "--json").out
    assert pie("model", "ps", "-q").out == "main\nrouter\n"


def test_ps_says_of_people_s_models_when_they_leave_and_why_they_stay(pie, unloaded):
    pie("model", "load", unloaded)
    heading, main, router = pie("model", "ps").out.splitlines()
    assert heading.split("  ")[-1] == "WHAT IT DOES"
    assert "its keep_alive is forever" in main
    assert re.search(r"in \d+ s", router)


def test_ps_says_who_drafts_and_names_a_few_of_the_programs_that_hold_a_model():
    plain = {"name": "main", "state": "loaded", "size_bytes": 1 << 30, "pages": None, "price": None, "text": ""}
    known = {"progress": None, "expires_in_seconds": None, "stays": "6 programs use it", "draft_model": "router"}
    cells = table_row({**plain, **known, "processes": 6, "holders": [str(number) * 36 for number in range(5)]})
    assert cells[5:8] == ["router", "6 programs use it", "00000000, 11111111, 22222222, 3 more"]
    assert table_row({**plain, **known, "processes": 1, "holders": []})[7] == "1 program"


def test_a_model_is_loaded_and_gives_its_memory_back(pie, unloaded):
    ended = pie("model", "load", unloaded, "--json")
    assert parsed("model load", ended.out) == {"loaded": "router"}
    (row,) = [row for row in parsed("model ps", pie("model", "ps", "--json").out) if row["name"] == unloaded]
    assert row["size_bytes"] > 0
    assert 0 < row["expires_in_seconds"] <= 600
    ended = pie("model", "unload", unloaded, "--json")
    assert parsed("model unload", ended.out) == {"unloaded": "router"}
    assert states(pie)[unloaded] == "unloaded"


def test_loading_and_unloading_tell_people_that_they_are_done(pie, unloaded):
    assert pie("model", "load", unloaded).out == "loaded router\n"
    assert pie("model", "unload", unloaded).out == "unloaded router\n"


def test_a_model_that_the_engine_does_not_have_is_not_loaded(pie, home):
    ended = pie("model", "load", "gpt-5")
    assert (ended.code, ended.out) == (1, "")
    assert "gpt-5" in ended.err


def test_a_program_runs_on_the_model_of_the_running_engine_that_it_is_to_have(pie, home, tmp_path):
    program = tmp_path / "first.py"
    program.write_text("from inferlet import runtime\n\nruntime.set_return(runtime.models())\n")
    assert (pie("run", str(program)).out, pie("run", "--model", "pie-tiny", str(program)).out) == (
        '["main", "router"]\n',
        '["router", "main"]\n',
    )
