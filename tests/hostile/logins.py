"""An engine that asks for keys, and the users who have one."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from pie_mlx.config.authorized_users import AuthorizedUsers
from tests.hostile.target import Target

CONFIG = """
[auth]
enabled = true
trusted_owners = ["ops"]
[runtime]
sandbox = "required"
"""


def new_key(file):
    """Writes a private key and answers it with the line of its public half."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = Ed25519PrivateKey.generate()
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    return key, key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def engine_with_users(folder, *names):
    """The running engine, and the file of each user's key."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    users = AuthorizedUsers(home / "authorized_users.toml")
    files = {name: folder / name / "key" for name in names}
    for name, file in files.items():
        users.add(name, "key", new_key(file)[1])
    return Target(home, config=CONFIG), files
