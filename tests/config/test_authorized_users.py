import os
import stat

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pie_mlx.config.authorized_users import AuthorizedUsers, authorized_users_file
from pie_mlx.config.loading import resolve
from pie_mlx.config.user_names import user_name_problem
from pie_mlx.config.values import Setting
from pie_mlx.errors import ConfigError, InvalidArgumentError


def public(private):
    return private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


PRIVATE = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))
KEY = public(PRIVATE)
OTHER_KEYS = [public(ed25519.Ed25519PrivateKey.generate()) for _ in range(2)]


@pytest.fixture
def known(tmp_path):
    (tmp_path / "keys").mkdir(mode=0o700)
    return AuthorizedUsers(tmp_path / "keys" / "users.toml")


def test_without_a_file_there_is_nobody(known):
    assert known.users() == {}


def test_a_key_that_was_added_is_found_again(known):
    added = known.add("ada.l@home", "laptop", KEY + " ada\n")
    assert AuthorizedUsers(known.file).users() == {"ada.l@home": {"laptop": added}}
    assert [path.name for path in known.file.parent.iterdir()] == ["users.toml"]


def test_the_file_is_the_users_alone(known):
    known.add("ada", "laptop", KEY)
    assert stat.S_IMODE(known.file.stat().st_mode) == 0o600


def test_comments_stay(known):
    known.add("ada", "laptop", KEY)
    known.file.write_text("# mine\n" + known.file.read_text())
    known.add("ada", "desk", OTHER_KEYS[0])
    assert known.file.read_text().startswith("# mine\n")


def test_one_key_or_a_user_is_removed(known):
    for name, key in zip("abc", (KEY, *OTHER_KEYS), strict=True):
        known.add("ada", name, key)
    known.add("bob", "a", KEY)
    assert known.remove("ada", "b") == ["b"]
    assert list(known.users()["ada"]) == ["a", "c"]
    assert known.remove("ada") == ["a", "c"]
    assert known.remove("bob", "a") == ["a"]
    assert known.users() == {}


@pytest.mark.parametrize("name", ["", ".x", "-x", "a b", "a/b", "x" * 65, "internal", "é", "a\n"])
def test_what_is_no_name_is_refused(known, name):
    assert user_name_problem(name)
    with pytest.raises(InvalidArgumentError, match="Invalid user name"):
        known.add(name, "a", KEY)


@pytest.mark.parametrize("name", ["local", "Local", "INTERNAL"])
def test_nobody_with_a_key_is_called_like_who_owns_the_engine(known, name):
    with pytest.raises(InvalidArgumentError, match="is reserved"):
        known.add(name, "a", KEY)


def test_a_name_that_is_taken_is_refused(known):
    known.add("ada", "a", KEY)
    with pytest.raises(InvalidArgumentError, match="there is a key 'a'"):
        known.add("ada", "a", KEY)


def test_a_user_has_a_key_once(known):
    known.add("ada", "a", KEY)
    with pytest.raises(InvalidArgumentError, match="key 'a' is the same one"):
        known.add("ada", "b", KEY + " another comment")
    assert list(known.users()["ada"]) == ["a"]
    known.add("bob", "b", KEY)


def test_a_key_that_is_refused_leaves_no_file(known):
    with pytest.raises(InvalidArgumentError, match="neither"):
        known.add("ada", "a", "nonsense")
    assert not known.file.exists()


def test_what_is_not_there_cannot_be_removed(known):
    known.add("ada", "a", KEY)
    with pytest.raises(InvalidArgumentError, match="user 'bob': there is none"):
        known.remove("bob")
    with pytest.raises(InvalidArgumentError, match="user 'ada': no key 'b'"):
        known.remove("ada", "b")


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o400, 0o700])
def test_another_mode_is_refused_with_the_command_that_mends_it(known, mode):
    known.add("ada", "a", KEY)
    known.file.chmod(mode)
    with pytest.raises(ConfigError, match=f"its mode is {mode:04o}, not 0600") as error:
        AuthorizedUsers(known.file).users()
    assert error.value.hint == f"chmod 600 {known.file}"


def test_a_directory_others_can_write_is_refused(known):
    known.add("ada", "a", KEY)
    known.file.parent.chmod(0o777)
    with pytest.raises(ConfigError, match="others can write in it"):
        AuthorizedUsers(known.file).users()


def test_a_file_of_another_user_is_refused(known, monkeypatch):
    known.add("ada", "a", KEY)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(ConfigError, match="it belongs to another user"):
        AuthorizedUsers(known.file).users()


def test_the_file_is_read_again_when_it_changes(known):
    known.add("ada", "a", KEY)
    reader = AuthorizedUsers(known.file)
    assert "bob" not in reader.users()
    known.add("bob", "a", KEY)
    assert "bob" in reader.users()


def test_any_key_of_a_user_may_have_signed(known):
    known.add("ada", "other", OTHER_KEYS[0])
    known.add("ada", "mine", KEY)
    assert known.verifies("ada", b"challenge", PRIVATE.sign(b"challenge"))
    assert not known.verifies("ada", b"another", PRIVATE.sign(b"challenge"))
    assert not known.verifies("bob", b"challenge", PRIVATE.sign(b"challenge"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[", "not TOML"),
        ("[user.ada.keys]", r"\[user\]: unknown section"),
        ("[users]\nada = 3", "expected keys alone"),
        ("users = 3", "Invalid user name"),
        ("[users.ada]\nkey = 3", "expected keys alone"),
        ("[users.internal.keys]", "'internal' is reserved"),
        ("[users.local.keys]", "'local' is reserved"),
        ("[users.ada.keys]\na = 3", r"\[users.ada\] a: key: nothing was given"),
        ("[users.ada.keys]\na = 'ssh-rsa AAAA'", r"\[users.ada\] a: key: it is damaged"),
    ],
)
def test_a_file_that_does_not_hold_is_refused(known, text, why):
    known.file.write_text(text)
    known.file.chmod(0o600)
    with pytest.raises(ConfigError, match=why):
        known.users()


def test_the_file_is_in_the_home_unless_the_configuration_says_otherwise(tmp_path):
    home = tmp_path / "home"
    assert authorized_users_file(resolve({}, {}).config, home) == home / "authorized_users.toml"
    other = resolve({"auth.authorized_users": Setting("/etc/pie/users", "file")}, {}).config
    assert str(authorized_users_file(other, home)) == "/etc/pie/users"
