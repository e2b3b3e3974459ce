"""`pie doctor --report`: what is in it, and what is not."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pie_mlx.backends import device
from pie_mlx.cli.doctor.report.crashes import crashes
from pie_mlx.cli.doctor.report.redaction import Redaction
from pie_mlx.metal.checks.check_cases import Case
from pie_mlx.runtime.doctor import machine
from pie_mlx.runtime.doctor.diagnosis import FactFailure
from pie_mlx.runtime.registry import OutputLogs
from tests.cli.doctor.test_doctor import GOOD

SECRETS = {
    "hf_Qx7variable": "a variable named like a secret",
    "wallet-of-ada": "a variable of pie-mlx",
    "sk-environment": "the environment of an MCP server",
    "sk-argument": "an argument of an MCP server",
    "Bearer sk-header": "a header of an MCP server",
    "address-token": "the address of an MCP server",
    "intern.example": "a host that programs may reach",
    "collector-password": "where telemetry goes",
    "what is my diagnosis?": "what somebody asked",
    "you have a cold": "what was answered",
    "ada-the-user": "the name of the account",
    "ada@example.org": "a mail address",
}
CONFIG = """
[runtime]
network_allowed_hosts = ["intern.example"]
sandbox = "required"
[telemetry]
endpoint = "https://ada:collector-password@collect.example"
[[model]]
hf_repo = "{home}/models/llama"
engine.total_pages = 77
[[mcp]]
name = "files"
transport = "stdio"
command = "files-server"
args = ["--token", "sk-argument"]
env = {{ API_KEY = "sk-environment" }}
[[mcp]]
name = "web"
transport = "http"
url = "https://web.example/mcp?token=address-token"
headers = {{ Authorization = "Bearer sk-header" }}
"""


@pytest.fixture
def found(monkeypatch):
    """Has the doctor find these facts."""

    def given(facts):
        monkeypatch.setattr(machine, "machine_facts", lambda file, environment: facts)

    given(GOOD)
    return given


@pytest.fixture
def ada(monkeypatch, tmp_path, home):
    """Somebody with a home, secrets and processes that spoke with them."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOGNAME", "ada-the-user")
    monkeypatch.setenv("HF_TOKEN", "hf_Qx7variable")
    monkeypatch.setenv("PIE_WALLET", "wallet-of-ada")
    monkeypatch.setenv("MLX_ENABLE_TF32", "0")
    (home / "config.toml").write_text(CONFIG.format(home=tmp_path))
    log = OutputLogs(home / "logs", time.time).begin("0" * 32, "ada-the-user", "clinic@1.0.0")
    for number in range(30):
        log.write("stdout", f"{number}: what is my diagnosis?")
    log.write("error", "you have a cold", error_type="DiagnosisError")
    log.close()
    return tmp_path


@pytest.fixture
def reported(pie, found, ada, monkeypatch):
    """The report, as text and as data, of a machine without an Apple GPU."""
    monkeypatch.setattr(device, "has_apple_gpu", lambda: False)

    def report():
        monkeypatch.chdir(ada)
        ended = pie("doctor", "--report")
        assert ended.err == ""
        assert (ended.code, ended.out) == (0, "pie-report.json: read it through, then attach it to an issue\n")
        text = (ada / "pie-report.json").read_text()
        return text, json.loads(text)

    return report


def test_it_holds_no_secret_and_not_who_or_where_somebody_is(reported, found, ada):
    told = f"{ada}/models: no such model, says ada@example.org to ada-the-user at https://me:pass@intern.example/x"
    found(replace(GOOD, configuration=FactFailure(f"config: mcp.1.headers: 'Bearer sk-header' {told}", "correct it")))
    text, _ = reported()
    assert {secret: why for secret, why in SECRETS.items() if secret in text} == {}
    assert str(ada) not in text
    assert "pass@" not in text


def test_a_configuration_that_does_not_hold_gives_nothing_away_either(reported, found, home):
    (home / "config.toml").write_text('[[mcp]]\nname = "web"\nurl = "ftp://sk-mistaken"\n')
    found(
        replace(GOOD, configuration=FactFailure("config: mcp.0.url: 'ftp://sk-mistaken' does not match", "correct it"))
    )
    text, content = reported()
    assert "sk-mistaken" not in text
    assert "mcp" in content["configuration"]["failed"]


def test_it_holds_what_a_maintainer_needs(reported):
    _, content = reported()
    assert content["versions"]["mlx"]
    assert content["machine"]["memory_bytes"] > 0
    assert content["device"]["default"] in ("cpu", "gpu")
    assert content["environment"] == content["environment"] | {"MLX_ENABLE_TF32": "0", "HF_TOKEN": "(hidden)"}
    assert {line["check"] for line in content["checks"]} >= {"python", "platform", "mlx", "sandbox"}
    assert content["kernel_cases"] == "not run: there is no Apple GPU"
    values = {path: setting["value"] for path, setting in content["configuration"].items()}
    assert values["model.0.hf_repo"] == "~/models/llama"
    assert (values["model.0.engine.total_pages"], values["runtime.sandbox"]) == (77, "required")
    assert values["runtime.network_allowed_hosts"] == values["mcp.1.url"] == "(hidden)"


def test_of_processes_it_holds_kinds_and_sizes_of_the_last_lines(reported):
    _, content = reported()
    (process,) = content["processes"]
    assert process["program"] == "clinic@1.0.0"
    assert len(process["lines"]) == 20
    first, last = process["lines"][0], process["lines"][-1]
    assert (first["event"], first["size_bytes"]) == ("stdout", len("11: what is my diagnosis?"))
    assert (last["event"], last["error_type"]) == ("error", "DiagnosisError")


def test_on_an_apple_gpu_every_kernel_runs_and_each_case_has_its_numbers(reported, monkeypatch, home):
    from pie_mlx.backends import choice
    from pie_mlx.cli.doctor import kernels
    from pie_mlx.metal.launcher import metal_launcher

    def broken(backend):
        raise RuntimeError("no such instruction")

    cases = [
        Case("page_copy", "plain", 1.0, lambda backend: [(np.array([0.75]), np.array([1.0]))]),
        Case("page_copy", "odd", 1.0, broken),
    ]
    monkeypatch.setattr(device, "has_apple_gpu", lambda: True)
    monkeypatch.setattr(choice, "launcher_to_check", lambda environment: metal_launcher())
    monkeypatch.setattr(kernels, "check_cases", lambda: cases)
    (home / "kernels.json").write_text('{"failing": ["page_copy"], "device": "Apple M5"}')
    _, content = reported()
    (row,) = content["kernel_cases"]
    assert (row["kernel"], row["passed"]) == ("page_copy", False)
    assert [(each["case"], each["error"]) for each in row["each"]] == [("plain", 0.25), ("odd", None)]
    assert content["kernel_record"] == {"failing": ["page_copy"], "device": "Apple M5"}


def test_what_cannot_be_found_out_is_told_in_its_place(reported, home):
    (home / "kernels.json").write_text("[")
    _, content = reported()
    assert content["kernel_record"]["failed"].startswith("not JSON")


def test_a_report_that_cannot_be_written_is_an_error(pie, found, tmp_path):
    ended = pie("doctor", "--report", "--output", tmp_path / "none" / "report.json")
    assert ended.code == 1
    assert "name a file that can be written with --output" in ended.err


def test_the_file_is_its_owners_alone_until_they_send_it(reported, ada):
    reported()
    assert (ada / "pie-report.json").stat().st_mode & 0o777 == 0o600


def test_with_json_it_says_where_it_is(pie, found, tmp_path):
    assert json.loads(pie("doctor", "--report", "--output", tmp_path / "r", "--json").out) == {"file": f"{tmp_path}/r"}


def test_a_report_with_kernels_alone_is_a_wrong_command_line(pie):
    assert pie("doctor", "--report", "--kernels").code == 2


def test_a_name_is_hidden_as_a_word_and_not_inside_of_others():
    ada = Redaction(Path("/Users/ada"), "ada", "ada-mac.local")
    assert ada.redact("ada: /Users/ada/x, Canada, ada-mac.local, adapter") == "USER: ~/x, Canada, HOST, adapter"
    assert Redaction(Path("/"), "", "").redact("/a b") == "/a b"


CRASH = {
    "exception": {"type": "EXC_CRASH", "signal": "SIGABRT"},
    "asi": {"libsystem_c.dylib": ["abort() called"]},
    "faultingThread": 1,
    "threads": [
        {"frames": []},
        {
            "frames": [
                {"imageIndex": 1, "symbol": "mlx::core::gpu::check_error"},
                {"imageIndex": 0, "imageOffset": 4711},
            ]
        },
    ],
    "usedImages": [{"name": "libsystem_kernel.dylib"}, {"name": "libmlx.dylib"}],
    "procPath": "/Users/ada/venv/bin/python",
}


def crash_file(folder, name, body, seconds):
    """As macOS writes one: a line of JSON, then more JSON."""
    head = {"timestamp": "2026-01-02 10:00:00.00 +0100", "os_version": "macOS 26.2 (25C56)", "incident_id": "ADA"}
    file = folder / name
    file.write_text(f"{json.dumps(head)}\n{json.dumps(body, indent=2)}")
    os.utime(file, (seconds, seconds))


def test_crashes_with_mlx_are_told_by_what_ended_them_and_where(tmp_path):
    crash_file(tmp_path, "python3.12-1.ips", CRASH, 1)
    crash_file(tmp_path, "python3.12-2.ips", CRASH | {"usedImages": [{"name": "other"}] * 2}, 2)
    crash_file(tmp_path, "Safari-3.ips", CRASH, 3)
    (tmp_path / "python3.12-4.ips").write_text("no JSON")
    assert crashes(tmp_path) == [
        {
            "timestamp": "2026-01-02 10:00:00.00 +0100",
            "os_version": "macOS 26.2 (25C56)",
            "exception": CRASH["exception"],
            "asi": CRASH["asi"],
            "frames": ["libmlx.dylib mlx::core::gpu::check_error", "libsystem_kernel.dylib 4711"],
        }
    ]


def test_the_newest_crashes_are_told_and_where_there_is_no_folder_none(tmp_path):
    for number in range(5):
        crash_file(tmp_path, f"python-{number}.ips", CRASH | {"termination": {"code": number}}, number)
    assert [crash["termination"]["code"] for crash in crashes(tmp_path)] == [4, 3, 2]
    assert crashes(tmp_path / "none") == []
