from pathlib import Path

import pytest

from pie_mlx.cli.engine import starting
from pie_mlx.cli.engine.starting import await_starting, warn_of_unused_settings
from pie_mlx.cli.options import Common
from pie_mlx.client.discovery import LocalEngine
from pie_mlx.config import setting_variables

MINE = {"PIE_SERVER__PORT": "9000", "PIE_RUNTIME__WARM_WORKERS": "1", "PIE_HOME": "/there", "PATH": "/bin"}


@pytest.fixture
def engine(monkeypatch):
    """Sets the engine that is found."""

    def engine(variables=None):
        found = None if variables is None else LocalEngine(1, "ws://x", "s", variables=setting_variables(variables))
        monkeypatch.setattr(starting, "local_engine", lambda home: found)

    return engine


def test_settings_of_the_environment_that_the_engine_does_not_have_are_named(engine, capsys):
    engine({"PIE_SERVER__PORT": "8000", "PIE_RUNTIME__WARM_WORKERS": "1"})
    warn_of_unused_settings(Path(), Common(), MINE)
    assert capsys.readouterr().err == (
        "pie: warning: PIE_SERVER__PORT: without effect on an engine that runs already: set it for 'pie serve', "
        "or start another engine with --one-shot\n"
    )


def test_an_engine_with_the_same_settings_is_no_cause_for_a_warning(engine, capsys):
    engine(MINE)
    warn_of_unused_settings(Path(), Common(), MINE)
    assert capsys.readouterr().err == ""


def test_an_engine_elsewhere_has_none_of_them(engine, capsys):
    engine(MINE)
    warn_of_unused_settings(Path(), Common(url="ws://there:1"), MINE)
    assert "PIE_SERVER__PORT, PIE_RUNTIME__WARM_WORKERS: without effect" in capsys.readouterr().err


def test_an_engine_that_starts_up_is_waited_for_and_said_to_be(monkeypatch, capsys):
    looks = iter([None, None, LocalEngine(1, "ws://x", "s")])
    monkeypatch.setattr(starting, "is_home_in_use", lambda home: True)
    monkeypatch.setattr(starting, "local_engine", lambda home: next(looks))
    monkeypatch.setattr(starting, "POLL_SECONDS", 0)
    await_starting(Path("/home/me"), Common())
    assert capsys.readouterr().err == "pie: the engine on /home/me is starting or ending: waiting for it\n"
    assert next(looks, None) is None


def test_an_engine_that_is_there_or_is_not_is_not_waited_for(monkeypatch, capsys, home):
    await_starting(home, Common())
    monkeypatch.setattr(starting, "is_home_in_use", lambda home: True)
    monkeypatch.setattr(starting, "local_engine", lambda home: LocalEngine(1, "ws://x", "s"))
    await_starting(home, Common())
    assert capsys.readouterr().err == ""
