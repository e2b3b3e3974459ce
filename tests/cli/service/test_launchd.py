"""The agent of a Mac, against a launchd that keeps the rules of the real one."""

import plistlib
from pathlib import Path

import pytest

from pie_mlx.cli.service.launchd import Launchd
from pie_mlx.cli.service.supervisor import Engine, Ran, State
from pie_mlx.errors import ProcessError

ENGINE = Engine(["/opt/homebrew/bin/pie", "serve", "--quiet"], {"PIE_HOME": "/Users/ada/.pie & more"})
TARGET = "gui/501/pie-mlx"


class FakeLaunchd:
    """Loads once, prints what is loaded, and unloads some time after it was asked to."""

    def __init__(self) -> None:
        self.loaded = False
        self.pid: int | None = None
        self.exit_code = "(never exited)"
        self.ending = 0
        self.has_session = self.can_end = True
        self.commands: list[str] = []

    def __call__(self, words) -> Ran:
        tool, verb, *rest = words
        assert tool == "launchctl"
        self.commands.append(verb)
        return getattr(self, f"_{verb}")(*rest)

    def _print(self, target: str) -> Ran:
        assert target == TARGET
        if self.ending:
            self.ending -= 1
            self.loaded = self.ending > 0
        if not self.loaded:
            return Ran(113, "", 'Could not find service "pie-mlx" in domain for user gui: 501')
        pid = f"\tpid = {self.pid}\n" if self.pid else ""
        return Ran(0, f"{TARGET} = {{\n\tactive count = 1\n\n{pid}\tlast exit code = {self.exit_code}\n}}")

    def _enable(self, target: str) -> Ran:
        return Ran(0)

    def _bootstrap(self, domain: str, file: str) -> Ran:
        assert domain == "gui/501"
        if not self.has_session:
            return Ran(125, "", "Bootstrap failed: 125: Domain does not support specified action")
        if self.loaded:
            return Ran(5, "", "Bootstrap failed: 5: Input/output error")
        plistlib.loads(Path(file).read_bytes())
        self.loaded, self.pid = True, 4711
        return Ran(0)

    def _kickstart(self, target: str) -> Ran:
        if self.pid:
            return Ran(37, "", "Could not kickstart service: 37: Operation already in progress")
        self.pid = 4712
        return Ran(0)

    def _bootout(self, target: str) -> Ran:
        if not self.can_end:
            return Ran(1, "", "Boot-out failed: 1")
        self.pid, self.ending = None, 3
        return Ran(36, "", "Boot-out failed: 36: Operation now in progress")


@pytest.fixture
def launchd() -> FakeLaunchd:
    return FakeLaunchd()


@pytest.fixture
def agent(launchd: FakeLaunchd, tmp_path: Path) -> Launchd:
    return Launchd(tmp_path / "LaunchAgents", tmp_path / "Logs", 501, launchd, sleep=lambda seconds: None)


def test_an_agent_starts_the_engine_at_login_and_again_when_it_fails(agent: Launchd) -> None:
    agent.install(ENGINE)
    assert agent.file.name == "pie-mlx.plist"
    described = plistlib.loads(agent.file.read_bytes())
    assert described["Label"] == "pie-mlx"
    assert described["ProgramArguments"] == ENGINE.command
    assert described["EnvironmentVariables"] == ENGINE.environment
    assert (described["RunAtLoad"], described["KeepAlive"]) == (True, {"SuccessfulExit": False})
    assert Path(described["StandardErrorPath"]).parent.is_dir()
    assert agent.state() == State(True, True, 4711)


def test_installing_it_again_leaves_an_engine_that_runs_alone(agent: Launchd, launchd: FakeLaunchd) -> None:
    agent.install(ENGINE)
    launchd.commands.clear()
    agent.install(ENGINE)
    assert set(launchd.commands) == {"print"}
    assert agent.state().pid == 4711


def test_installing_it_again_starts_an_engine_that_was_stopped(agent: Launchd, launchd: FakeLaunchd) -> None:
    agent.install(ENGINE)
    launchd.pid, launchd.exit_code = None, "0"
    assert agent.state() == State(True, False, None, 0)
    agent.install(ENGINE)
    assert agent.state().pid == 4712


def test_a_change_takes_the_place_of_what_was_installed(agent: Launchd, launchd: FakeLaunchd) -> None:
    agent.install(ENGINE)
    agent.install(Engine(ENGINE.command, {"PIE_HOME": "/elsewhere"}))
    assert launchd.commands.count("bootout") == 1
    assert launchd.commands.count("bootstrap") == 2
    assert plistlib.loads(agent.file.read_bytes())["EnvironmentVariables"] == {"PIE_HOME": "/elsewhere"}
    assert agent.state().running


def test_without_a_session_the_refusal_says_where_to_log_in(agent: Launchd, launchd: FakeLaunchd) -> None:
    launchd.has_session = False
    with pytest.raises(ProcessError, match=r"bootstrap gui/501 .*: Bootstrap failed: 125") as refused:
        agent.install(ENGINE)
    assert "screen" in refused.value.hint
    assert agent.state() == State(True)


def test_why_the_last_engine_ended_is_known(agent: Launchd, launchd: FakeLaunchd) -> None:
    agent.install(ENGINE)
    launchd.pid, launchd.exit_code = None, "78: EX_CONFIG"
    assert agent.state() == State(True, False, None, 78)


def test_removing_it_waits_for_the_engine_and_may_be_done_twice(agent: Launchd) -> None:
    agent.install(ENGINE)
    assert agent.remove()
    assert agent.state() == State(False)
    assert not agent.file.exists()
    assert not agent.remove()


def test_an_agent_whose_file_is_gone_is_removed_from_launchd(agent: Launchd, launchd: FakeLaunchd) -> None:
    agent.install(ENGINE)
    agent.file.unlink()
    assert agent.remove()
    assert not launchd.loaded


def test_an_engine_that_never_ends_is_an_error(agent: Launchd, launchd: FakeLaunchd) -> None:
    agent.install(ENGINE)
    launchd.can_end = False
    with pytest.raises(ProcessError, match="bootout"):
        agent.remove()
    assert agent.file.exists()
