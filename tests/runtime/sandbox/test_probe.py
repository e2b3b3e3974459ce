"""What the probe says is what it tried."""

from pie_mlx.runtime.sandbox.confinement import Policy
from pie_mlx.runtime.sandbox.probe import NetworkReport, SandboxReport, probe_network
from pie_mlx.runtime.sandbox.seatbelt import profile


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
    monkeypatch.setattr("pie_mlx.runtime.sandbox.probe._BOOT", "raise OSError('no namespaces')")
    assert probe_network() == NetworkReport(False, "OSError: no namespaces")


def test_a_seatbelt_profile_opens_the_port_of_a_proxy():
    lines = profile(Policy((), (), 4711)).splitlines()
    opens = lines.index('(allow network-outbound (remote tcp "localhost:4711"))')
    assert opens > lines.index("(deny network*)")
    assert "network-outbound" not in profile(Policy(()))


def test_a_seatbelt_profile_closes_everything_then_opens_what_the_policy_names():
    text = profile(Policy(("/lib/python", '/odd "name"'), ("/private/var/work",)))
    lines = text.splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert lines.index("(deny process-fork)") > lines.index('(import "bsd.sb")')
    assert '(subpath "/odd \\"name\\"")' in text
    assert '(allow file-read* file-write* (subpath "/private/var/work"))' in lines
