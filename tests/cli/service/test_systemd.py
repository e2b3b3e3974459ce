"""The unit of Linux, as systemd itself reads it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pie_mlx.cli.service.supervisor import Engine, Ran, State
from pie_mlx.cli.service.systemd import Systemd
from pie_mlx.errors import ProcessError


class FakeSystemd:
    """Remembers what it is told, and answers `show` with `shown`."""

    def __init__(self) -> None:
        self.shown = "ActiveState=active\nMainPID=4711\nExecMainStatus=0"
        self.commands: list[str] = []
        self.has_bus = True

    def __call__(self, words) -> Ran:
        assert list(words[:2]) == ["systemctl", "--user"]
        if not self.has_bus:
            return Ran(1, "", "Failed to connect to bus: No medium found")
        self.commands.append(words[2])
        return Ran(0, self.shown if words[2] == "show" else "")


@pytest.fixture
def systemd() -> FakeSystemd:
    return FakeSystemd()


@pytest.fixture
def unit(systemd: FakeSystemd, tmp_path: Path) -> Systemd:
    return Systemd(tmp_path / "user", systemd)


def engine(home: str = "/home/ada/.pie") -> Engine:
    return Engine(["/bin/sh", "serve", "--quiet", "--config", 'a "b" $c %d \\e'], {"PIE_HOME": home})


def test_a_unit_starts_the_engine_at_login_and_again_when_it_fails(unit: Systemd) -> None:
    unit.install(engine("/home/a da/%"))
    lines = unit.file.read_text().splitlines()
    assert r'ExecStart="/bin/sh" "serve" "--quiet" "--config" "a \"b\" $$c %%d \\e"' in lines
    assert 'Environment="PIE_HOME=/home/a da/%%"' in lines
    assert {"Restart=on-failure", "WantedBy=default.target"} <= set(lines)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_takes_the_unit_as_it_is(unit: Systemd) -> None:
    unit.install(engine("/home/a da/%"))
    command = ["systemd-analyze", "verify", "--man=no", str(unit.file)]
    verified = subprocess.run(command, capture_output=True, text=True)
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")


def test_installing_it_again_leaves_an_engine_that_runs_alone(unit: Systemd, systemd: FakeSystemd) -> None:
    unit.install(engine())
    assert systemd.commands == ["show-environment", "daemon-reload", "enable", "restart"]
    systemd.commands.clear()
    unit.install(engine())
    assert systemd.commands == ["show-environment", "daemon-reload", "enable", "start"]
    unit.install(engine("/elsewhere"))
    assert systemd.commands[-1] == "restart"


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        ("ActiveState=active\nMainPID=4711\nExecMainStatus=0", State(True, True, 4711)),
        ("ActiveState=activating\nMainPID=0\nExecMainStatus=1", State(True, False, None, 1)),
        ("ActiveState=inactive\nMainPID=0\nExecMainStatus=0", State(True, False, None, 0)),
        ("", State(True, False, None, 0)),
    ],
)
def test_the_state_is_what_systemd_shows(unit: Systemd, systemd: FakeSystemd, shown: str, state: State) -> None:
    assert unit.state() == State(False)
    unit.install(engine())
    systemd.shown = shown
    assert unit.state() == state


def test_removing_it_may_be_done_twice(unit: Systemd, systemd: FakeSystemd) -> None:
    unit.install(engine())
    assert unit.remove()
    assert systemd.commands[-2:] == ["disable", "daemon-reload"]
    assert not unit.file.exists()
    assert not unit.remove()


def test_without_a_session_the_refusal_says_how_to_log_in(unit: Systemd, systemd: FakeSystemd) -> None:
    systemd.has_bus = False
    with pytest.raises(ProcessError, match="show-environment: Failed to connect to bus") as refused:
        unit.install(engine())
    assert "not by su" in refused.value.hint
    assert unit.state() == State(False)
