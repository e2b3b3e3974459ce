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


def rules(policy):
    """The rules of a profile by their first words, each with its place."""
    return {line: place for place, line in enumerate(profile(policy).splitlines())}


def test_a_seatbelt_profile_closes_what_its_default_and_the_systems_rules_leave_open():
    places = rules(Policy(()))
    denied = {word.strip("()") for line in places if line.startswith("(deny") for word in line.split()[1:]}
    assert denied >= {
        *("file-map-executable", "iokit-get-properties", "nvram*", "process-info*"),
        *("iokit-open", "ipc-posix*", "ipc-sysv*", "mach-lookup", "mach-register", "sysctl-write", "sysctl-read"),
        *("process-fork", "process-exec*", "network*", "signal", "file-read*", "file-write*"),
    }
    imported = places['(import "bsd.sb")']
    assert all(place > imported for line, place in places.items() if line.startswith("(deny") and "default" not in line)


def test_a_seatbelt_profile_lets_libraries_be_loaded_that_can_be_read_and_no_others():
    text = profile(Policy(("/opt/python",), ("/private/var/work",)))
    loads = [line for line in text.splitlines() if line.startswith("(allow") and "file-map-executable" in line]
    assert len(loads) == 1
    assert '(subpath "/opt/python")' in loads[0]
    assert '(subpath "/usr/lib")' in loads[0]
    assert "/private/var/work" not in loads[0]


def test_every_rule_of_a_seatbelt_profile_is_closed():
    text = profile(Policy(("/lib/python",), ("/private/var/work",), 4711))
    assert all(line.count("(") == line.count(")") for line in text.splitlines())


def test_a_seatbelt_profile_closes_everything_then_opens_what_the_policy_names():
    text = profile(Policy(("/lib/python", '/odd "name"'), ("/private/var/work",)))
    lines = text.splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert lines.index("(deny process-fork)") > lines.index('(import "bsd.sb")')
    assert '(subpath "/odd \\"name\\"")' in text
    assert '(allow file-read* file-write* (subpath "/private/var/work"))' in lines
