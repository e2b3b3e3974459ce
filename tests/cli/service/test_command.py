"""`pie service` from its words to the commands of the system, of which a script in PATH takes the place."""

import json
import os
import sys
from pathlib import Path

import pytest

from pie_mlx.cli.service import platform, supervisor
from pie_mlx.cli.service.launchd import Launchd
from pie_mlx.errors import ConfigError, ProcessError
from pie_mlx.server.run_files import lock_home

from ..conftest import home, pie

__all__ = ["home", "pie"]

SYSTEMCTL = """#!/bin/sh
echo "$@" >> "$SYSTEMCTL_TOLD"
case "$2" in
    show) cat "$SYSTEMCTL_SHOWN" ;;
esac
"""


class System:
    """A systemd that does nothing, and the directory of its units."""

    def __init__(self, root: Path) -> None:
        self.told, self.shown = root / "told", root / "shown"
        self.unit = root / "config" / "systemd" / "user" / "pie-mlx.service"
        self.show("active", 4711, 0)

    def show(self, active: str, pid: int, status: int) -> None:
        self.shown.write_text(f"ActiveState={active}\nMainPID={pid}\nExecMainStatus={status}\n")


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    found = System(tmp_path)
    script = tmp_path / "systemctl"
    script.write_text(SYSTEMCTL)
    script.chmod(0o755)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SYSTEMCTL_TOLD", str(found.told))
    monkeypatch.setenv("SYSTEMCTL_SHOWN", str(found.shown))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return found


def test_a_service_is_installed_looked_at_and_removed(pie, system, home):
    ended = pie("service", "install")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"installed {system.unit}: the engine is started now and at each login\n")
    assert f'"PIE_HOME={home}"' in system.unit.read_text()
    assert pie("service", "status").out == f"running as process 4711, by {system.unit}\n"
    assert pie("service", "remove").out == f"removed {system.unit}\n"
    assert pie("service", "remove").out == "no service is installed\n"
    ended = pie("service", "status")
    assert (ended.code, ended.out) == (1, "no service is installed; 'pie service install' installs one\n")


def test_an_engine_that_failed_is_said_to_have(pie, system):
    pie("service", "install")
    system.show("activating", 0, 1)
    ended = pie("service", "status")
    assert ended.code == 1
    assert ended.out.startswith("installed, but no engine runs; the last one ended with status 1; ")


def test_every_verb_has_its_json(pie, system):
    state = {"installed": True, "running": True, "pid": 4711, "exit_status": None, "file": str(system.unit)}
    assert json.loads(pie("service", "install", "--json").out) == state
    assert json.loads(pie("service", "status", "--json").out) == state
    assert json.loads(pie("service", "remove", "--json").out) == {"removed": True, "file": str(system.unit)}


def test_quiet_installs_and_removes_without_a_word(pie, system):
    assert pie("service", "install", "-q").out == pie("service", "remove", "-q").out == ""


def test_a_configuration_that_cannot_start_is_refused(pie, system, home):
    (home / "config.toml").write_text("[server]\nport = 'none'\n")
    ended = pie("service", "install")
    assert (ended.code, "server.port" in ended.err) == (1, True)
    assert not system.unit.exists()


def test_an_engine_that_was_started_by_hand_is_in_the_way(pie, system, home):
    with lock_home(home):
        ended = pie("service", "install")
        assert ended.code == 1
        assert ended.err.startswith(f"pie: service: an engine is running on {home} already\n     try: end it with")
        assert not system.unit.exists()


def test_the_engine_of_the_service_itself_is_not(pie, system, home):
    pie("service", "install")
    with lock_home(home):
        assert pie("service", "install").code == 0


def test_a_system_without_systemd_is_told_in_one_line(pie, system, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    ended = pie("service", "install")
    assert (ended.code, ended.err.splitlines()[0]) == (1, "pie: service: there is no systemctl here")


def test_the_service_runs_the_script_that_runs_now(tmp_path):
    script = tmp_path / "pie"
    script.touch(0o755)
    engine = supervisor.engine_here(tmp_path, Path("mine.toml"), {"HF_HOME": "/models", "SECRET": "x"}, str(script))
    assert engine.command == [str(script), "serve", "--quiet", "--config", os.path.abspath("mine.toml")]
    assert engine.environment == {"PIE_HOME": str(tmp_path), "HF_HOME": "/models"}


def test_without_a_script_it_runs_the_package(tmp_path):
    engine = supervisor.engine_here(tmp_path, None, {}, "/work/pie_mlx/__main__.py")
    assert engine.command == [sys.executable, "-m", "pie_mlx", "serve", "--quiet"]


def test_a_name_that_no_description_can_hold_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="a service cannot have"):
        supervisor.engine_here(tmp_path / "a\nb", None, {}, "pie")


def test_a_mac_has_an_agent_and_what_is_neither_has_none():
    found = platform.supervisor_here("darwin")
    assert isinstance(found, Launchd)
    assert found.file == Path.home() / "Library" / "LaunchAgents" / "pie-mlx.plist"
    with pytest.raises(ProcessError, match="win32 is not supported"):
        platform.supervisor_here("win32")
