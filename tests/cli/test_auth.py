import io
import stat

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pie_mlx.client.known_engines import KnownEngines
from pie_mlx.config.authorized_users import AuthorizedUsers
from pie_mlx.login import fingerprint
from pie_mlx.server import ServerSettings
from tests.cli.schemas import parsed
from tests.server.running import RunningServer

KEY, OTHER_KEY = (
    ed25519.Ed25519PrivateKey.from_private_bytes(bytes([number] * 32))
    .public_key()
    .public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    .decode()
    for number in range(2)
)


@pytest.fixture
def add(pie, monkeypatch):
    def add(*words, key=KEY):
        monkeypatch.setattr("sys.stdin", io.StringIO(key))
        return pie("auth", "add", *words)

    return add


def test_adding_prints_the_fingerprint_alone(add):
    ended = add("ada", "laptop")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("SHA256:")
    assert len(ended.out.splitlines()) == 1


def test_a_key_without_a_name_is_named_after_the_time(add, pie):
    assert parsed("auth add", add("ada", "--json").out)["user"] == "ada"
    (row,) = parsed("auth list", pie("auth", "list", "--json").out)
    assert len(row["key"]) == len("2026-11-21-15:00:00")


def test_keys_are_listed(add, pie):
    add("bob", "desk")
    fingerprint = add("ada", "laptop").out.strip()
    lines = [line.split() for line in pie("auth", "list").out.splitlines()]
    assert lines == [
        ["USER", "KEY", "TYPE", "FINGERPRINT"],
        ["ada", "laptop", "ssh-ed25519", fingerprint],
        ["bob", "desk", "ssh-ed25519", fingerprint],
    ]


def test_without_keys_the_list_is_empty(pie):
    assert parsed("auth list", pie("auth", "list", "--json").out) == []
    ended = pie("auth", "list")
    assert (ended.code, ended.out) == (0, "")


def test_what_is_no_key_is_one_clear_line(add, home):
    ended = add("ada", key="hello")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("pie: key: neither an OpenSSH line nor a PEM public key\n     try: paste the line")
    assert list(home.iterdir()) == []


def test_a_private_key_is_not_echoed(add):
    secret = "-----BEGIN OPENSSH PRIVATE KEY-----\nSECRET\n-----END OPENSSH PRIVATE KEY-----"
    ended = add("ada", key=secret)
    assert ended.code == 1
    assert "private key" in ended.err
    assert "SECRET" not in ended.err + add("ada", "--debug", key=secret).err


def test_a_no_removes_no_user(add, pie, answer):
    add("ada", "a")
    answer("n\n")
    ended = pie("auth", "remove", "ada")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith("pie: the user ada was not removed: the answer was no\n")
    assert len(parsed("auth list", pie("auth", "list", "--json").out)) == 1


def test_one_key_is_removed(add, pie):
    add("ada", "a")
    add("ada", "b", key=OTHER_KEY)
    assert parsed("auth remove", pie("auth", "remove", "ada", "a", "--json").out)["removed"] == ["a"]
    assert [row["key"] for row in parsed("auth list", pie("auth", "list", "--json").out)] == ["b"]


def test_a_whole_user_needs_a_yes(add, pie):
    add("ada", "a")
    assert pie("auth", "remove", "ada").code == 2
    assert pie("auth", "remove", "ada", "-y").out == "removed a\n"


def test_nobody_is_asked_about_a_user_who_is_not_there(pie):
    ended = pie("auth", "remove", "nobody")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "pie: user 'nobody': there is none\n     try: 'pie auth list' shows all\n"


def test_a_file_others_can_read_is_refused_with_the_command_that_mends_it(add, pie, home):
    add("ada", "a")
    file = home / "authorized_users.toml"
    file.chmod(0o644)
    ended = pie("auth", "list")
    assert ended.code == 1
    assert ended.err.endswith(f"its mode is 0644, not 0600\n     try: chmod 600 {file}\n")


def test_the_configuration_says_where_the_keys_are(add, home, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (home / "config.toml").write_text(f'[auth]\nauthorized_users = "{tmp_path}/elsewhere/users.toml"\n')
    assert add("ada").code == 0
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["users.toml"]


def test_a_new_key_is_the_users_alone_and_its_public_half_is_printed(pie, add, home):
    ended = pie("auth", "new-key")
    file = home / "keys" / "id_ed25519"
    assert (ended.code, ended.err) == (0, f"pie: the private key is {file}\n")
    assert [stat.S_IMODE(place.stat().st_mode) for place in (file, file.parent)] == [0o600, 0o700]
    assert "PRIVATE" not in ended.out
    assert add("ada", key=ended.out).code == 0


def test_a_new_key_overwrites_nothing(pie, tmp_path):
    file = tmp_path / "key"
    assert parsed("auth new-key", pie("auth", "new-key", file, "--json").out)["path"] == str(file)
    kept = file.read_bytes()
    ended = pie("auth", "new-key", file)
    assert (ended.code, file.read_bytes() == kept) == (1, True)
    assert ended.err == f"pie: {file}: File exists\n     try: name another file\n"


@pytest.fixture
def locked(home, add, pie):
    """An engine that wants a key, which is ada's own."""
    add("ada", key=pie("auth", "new-key", "-q").out)
    users = AuthorizedUsers(home / "authorized_users.toml")
    settings = ServerSettings(port=0, authentication=True)
    running = RunningServer(home, settings, keys=users, announces=False).start()
    yield running
    running.stop()


def test_the_own_key_is_used_where_none_is_named(locked, pie, monkeypatch):
    monkeypatch.setenv("PIE_USER", "ada")
    assert pie("ps", "--url", locked.url).code == 0


def test_another_engine_at_an_address_is_used_once_it_is_trusted(locked, pie, home, monkeypatch):
    monkeypatch.setenv("PIE_USER", "ada")
    known = KnownEngines(home / "keys" / "known_engines")
    known.trust(locked.url, bytes(32))
    ended = pie("ps", "--url", locked.url)
    assert ended.code == 1
    hint = f"try: if you know why, 'pie auth trust {locked.url} --in {known.file}'"
    assert ended.err.splitlines()[1].strip() == hint
    row = parsed("auth trust", pie("auth", "trust", locked.url, "--json").out)
    assert row["fingerprint"] == fingerprint(locked.server.engine_key)
    assert pie("ps", "--url", locked.url).code == 0


def test_an_engine_that_asks_for_no_key_cannot_be_trusted(pie, home):
    running = RunningServer(home, announces=False).start()
    try:
        ended = pie("auth", "trust", running.url)
    finally:
        running.stop()
    assert (ended.code, "does not prove which one it is" in ended.err) == (1, True)
