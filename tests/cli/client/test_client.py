"""`pie client`, and engines at an address that want a key."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from pie_mlx.config.authorized_users import AuthorizedUsers
from pie_mlx.server import ServerSettings
from tests.cli.schemas import parsed
from tests.server.conftest import server
from tests.server.programs import PLAYER
from tests.server.running import RunningServer

__all__ = ["server"]

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def cli_home(tmp_path, monkeypatch):
    monkeypatch.setenv("PIE_CLI_HOME", str(tmp_path / "cli"))
    return tmp_path / "cli"


@pytest.fixture
def there(server, pie):
    """A file that says where the engine is."""
    port = server.url.rpartition(":")[2]
    assert pie("client", "config", "update", "--port", port, "--username", "ada").code == 0
    return server


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """An engine that wants a key, and the file of ada's."""
    home = tmp_path_factory.mktemp("home")
    key = Ed25519PrivateKey.generate()
    file = home / "key"
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    users = AuthorizedUsers(home / "users.toml")
    users.add("ada", "key", key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode())
    running = RunningServer(home, ServerSettings(port=0, authentication=True), keys=users).start()
    yield running, file
    running.stop()


def test_ping(pie, there):
    ended = pie("client", "ping", "--json")
    assert parsed("client ping", ended.out)["url"] == there.url


def test_words_go_before_the_file(pie, there):
    ended = pie("client", "ping", "--port", "1")
    assert ended.code == 1
    assert "127.0.0.1:1" in ended.err


def test_a_program_is_submitted_by_name(pie, there):
    ended = pie("client", "submit", "player", "--", "--do", "value", "--value", "here")
    assert (ended.code, ended.out) == (0, "here\n")


def test_a_file_is_installed_and_submitted(pie, there, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLAYER)
    assert pie("client", "install", "--path", path).out == "mine@0.0.0\n"
    assert parsed("client install", pie("client", "install", "--path", path, "--json").out) == {
        "installed": "mine@0.0.0"
    }
    ended = pie("client", "submit", "-p", path, "--", "--do", "value", "--value", "there")
    assert (ended.code, ended.out) == (0, "there\n")


def test_a_program_is_left_running_listed_and_ended(pie, there):
    process = pie("client", "submit", "player", "-d", "--", "--do", "wait").out.strip()
    rows = parsed("client list", pie("client", "list", "--json").out)
    assert [row["username"] for row in rows if row["id"] == process] == ["ada"]
    assert process in pie("client", "list", "--full").out
    assert pie("client", "abort", process[:8]).code == 0
    assert all(row["id"] != process for row in json.loads(pie("client", "list", "--json").out))


def test_a_program_is_named_once(pie, there, tmp_path):
    assert pie("client", "submit").code == 2
    assert pie("client", "submit", "player", "-p", tmp_path).code == 2


def test_the_file_is_written_once_changed_and_shown(pie, cli_home):
    assert pie("client", "config", "init", "--no-auth").code == 0
    assert pie("client", "config", "init").code == 1
    assert pie("client", "config", "update", "--host", "studio.local").code == 0
    shown = pie("client", "config", "show").out
    assert shown == (cli_home / "cli_config.toml").read_text()
    assert 'host = "studio.local"' in shown
    assert "enable_auth = false" in shown


@pytest.mark.parametrize("text", ["prot = 1\n", "port = 0\n", "port =\n"])
def test_a_file_that_does_not_hold_is_told(pie, cli_home, text):
    cli_home.mkdir()
    (cli_home / "cli_config.toml").write_text(text)
    ended = pie("client", "ping")
    assert (ended.code, ended.out) == (1, "")
    assert "cli_config.toml" in ended.err


def test_a_key_is_shown_to_whoever_wants_one(pie, locked):
    running, key = locked
    port = running.url.rpartition(":")[2]
    assert pie("client", "ping", "--port", port, "--username", "ada", "--private-key-path", key).code == 0
    ended = pie("client", "ping", "--port", port, "--username", "ada")
    assert ended.code == 1
    assert "--private-key-path" in ended.err


def test_the_environment_says_who_one_is_at_an_address(pie, locked, monkeypatch):
    running, key = locked
    monkeypatch.setenv("PIE_USER", "ada")
    ended = pie("ps", "--url", running.url)
    assert ended.code == 1
    assert "PIE_KEY" in ended.err
    monkeypatch.setenv("PIE_KEY", str(key))
    assert pie("ps", "--url", running.url, "--json").out == "[]\n"


def test_the_token_opens_an_engine_at_an_address(pie, locked, monkeypatch):
    running, _ = locked
    monkeypatch.setenv("PIE_TOKEN", running.server.token)
    assert pie("ps", "--url", running.url, "--json").out == "[]\n"
