"""What the probe says is what it tried."""

import subprocess

from pie_mlx.runtime.sandbox import probe
from pie_mlx.runtime.sandbox.attempts import LIBRARIES
from pie_mlx.runtime.sandbox.interpreter import isolated_python
from pie_mlx.runtime.sandbox.probe import NetworkReport, SandboxReport, probe_network, probe_sandbox


def test_the_probe_tries_four_things_and_one_that_must_work(walls):
    assert len(walls.stopped) + len(walls.open) == 4
    assert walls.allowed_works


def test_a_sandbox_holds_when_nothing_is_open_and_programs_work():
    assert SandboxReport(("network",), (), True).holds
    assert not SandboxReport((), ("network",), True).holds
    assert not SandboxReport(("network",), (), False).holds


def test_a_network_probe_holds_or_says_why():
    report = probe_network()
    assert report.holds == (report.reason == "")


def test_a_network_probe_that_dies_says_its_last_words(monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.sandbox.probe.BOOT", "raise OSError('no namespaces')")
    assert probe_network() == NetworkReport(False, "OSError: no namespaces")


def test_a_sandbox_in_which_a_library_cannot_be_loaded_lets_no_program_work(complete_walls, monkeypatch):
    boot = f"from pie_mlx.runtime.sandbox import attempts; attempts.interpreter_paths = lambda: (); {probe.BOOT}"
    monkeypatch.setattr(probe, "BOOT", boot)
    report = probe_sandbox()
    assert not report.allowed_works
    assert any(library in report.reason for library in LIBRARIES)  # some Pythons have the first ones built in


def test_the_probe_loads_libraries_that_nothing_has_loaded_before_the_walls_stand():
    code = "from pie_mlx.runtime.sandbox import attempts; print({*attempts.LIBRARIES} & {*sys.modules})"
    ended = subprocess.run(isolated_python(code), capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"
