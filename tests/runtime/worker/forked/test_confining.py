"""A wall that is missing is told, or keeps the program from starting."""

import pytest

from pie_mlx.config.schema import RuntimeConfig
from pie_mlx.errors import LaunchError
from pie_mlx.runtime.configured import worker_settings
from pie_mlx.runtime.sandbox import Confinement, Policy
from pie_mlx.runtime.sandbox.probe import SandboxReport
from pie_mlx.runtime.worker.forked import child
from pie_mlx.runtime.worker.frames.messages import LaunchSpec, ProgramLocation
from tests.runtime.worker.conftest import bounded_engine


class Written:
    """A host that keeps what is written."""

    def __init__(self):
        self.text = ""

    def write(self, stream, text):
        assert stream == "stderr"
        self.text += text


def spec(sandbox):
    return LaunchSpec(
        "a@0.0.0", ProgramLocation("/a.py"), "main", "input", "{}", {}, "/w", False, 1 << 20, None, None, None, sandbox
    )


@pytest.fixture
def missing(monkeypatch):
    """A system that cannot close files."""
    monkeypatch.setattr(child, "confine", lambda policy: Confinement({"files": "an old kernel"}))


@pytest.mark.usefixtures("missing")
def test_best_effort_says_what_is_missing():
    host = Written()
    child.build_walls(spec("best-effort"), host.write, Policy(()))
    assert host.text == "[pie] sandbox: files are open (an old kernel)\n"


@pytest.mark.usefixtures("missing")
def test_required_refuses_to_run_the_program():
    with pytest.raises(LaunchError, match=r"sandbox: files are open \(an old kernel\)"):
        child.build_walls(spec("required"), Written().write, Policy(()))


@pytest.mark.usefixtures("missing")
def test_off_builds_and_says_nothing():
    host = Written()
    assert not child.build_walls(spec("off"), host.write, Policy(()))
    assert host.text == ""


async def test_an_engine_that_requires_a_sandbox_does_not_start_without(monkeypatch):
    report = SandboxReport((), ("network",), True, "an old kernel")
    monkeypatch.setattr("pie_mlx.runtime.worker.pool.probe_sandbox", lambda: report)
    with pytest.raises(LaunchError, match="tried and not stopped: network"):
        async with bounded_engine(sandbox="required"):
            raise NotImplementedError


async def test_an_engine_that_requires_a_sandbox_starts_with_it(monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.worker.pool.probe_sandbox", lambda: SandboxReport(("network",), (), True))
    async with bounded_engine(sandbox="required") as engine:
        assert (await engine.page_usage()).used == 0


def test_the_configuration_decides_the_bounds(tmp_path):
    runtime = RuntimeConfig(sandbox="required", allow_fs=True, max_memory_mb=64, max_cpu_secs=3, environment=["A"])
    settings = worker_settings(runtime, tmp_path)
    assert settings.sandbox == "required"
    assert settings.scratch_directory == str(tmp_path / "scratch")
    assert (settings.max_memory_bytes, settings.max_cpu_seconds, settings.environment) == (64 << 20, 3, ("A",))


def test_the_configuration_decides_what_programs_reach(tmp_path):
    hosts = ["a.b:443"]
    assert worker_settings(RuntimeConfig(network_allowed_hosts=hosts), tmp_path).network is None
    runtime = RuntimeConfig(allow_network=True, network_allowed_hosts=hosts)
    assert worker_settings(runtime, tmp_path).network.allowed_hosts == ("a.b:443",)


def test_without_allow_fs_there_is_no_scratch_directory(tmp_path):
    assert worker_settings(RuntimeConfig(fs_scratch_dir="/s"), tmp_path).scratch_directory is None
