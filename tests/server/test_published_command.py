"""The unmodified command `pie-client` 0.4.0."""

import subprocess
import sys

import pytest

from tests.server.running import write_program

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="it wants an event loop that Python 3.14 makes no more"),
]


@pytest.fixture
def run(server, tmp_path, monkeypatch):
    """Runs the command against the server, with its input left open: at its end it would detach."""
    (tmp_path / "cli_config.toml").write_text(
        f'host = "127.0.0.1"\nport = {server.url.rpartition(":")[2]}\nusername = "ada"\nenable_auth = false\n'
    )
    monkeypatch.setenv("PIE_CLI_HOME", str(tmp_path))

    def run(*words):
        command = [sys.executable, "-m", "pie_client_cli", *map(str, words)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        with subprocess.Popen(command, **pipes) as child:
            output = child.stdout.read()
        return child.returncode, output

    return run


def test_ping_install_and_submit(run, tmp_path):
    code, output = run("ping")
    assert code == 0, output
    source = (
        "from inferlet import session\n"
        "async def main(input):\n"
        "    session.send(input['text'])\n"
        "    print('printed')\n"
        "    return input\n"
    )
    program, manifest = write_program(tmp_path / "p", "by-command", source)
    code, output = run("install", "--path", program, "--manifest", manifest)
    assert (code, "installed successfully" in output) == (0, True), output
    code, output = run("submit", "by-command@0.1.0", "--", "--text", "hi", "--n", "3")
    assert code == 0, output
    assert "Message: hi" in output
    assert "printed" in output
    assert 'Completed: {"text": "hi", "n": 3}' in output


def test_submit_of_a_file(run, tmp_path):
    program, manifest = write_program(tmp_path / "q", "direct", "async def main(input):\n    return 'ok'\n")
    code, output = run("submit", "--path", program, "--manifest", manifest)
    assert (code, "Completed: ok" in output) == (0, True), output


def test_a_failure_is_shown(run):
    code, output = run("submit", "player@0.1.0", "--", "--do", "fail")
    assert code != 0
    assert "Error: no" in output
