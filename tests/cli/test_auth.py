import io

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.cli.schemas import parsed

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
