"""A user's keys: make one, and sign with one."""

import base64
import os
from pathlib import Path

from pie_mlx.errors import AuthError

_MODE = 0o600


def new_key(file: Path) -> str:
    """Write a new private key; returns the line of its public half. Raises AuthError where the file exists."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    key = Ed25519PrivateKey.generate()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE), "wb") as out:
            out.write(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    except OSError as error:
        raise AuthError(f"{file}: {error.strerror}", hint="name another file") from None
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def sign(key_file: Path, message: bytes) -> str:
    """The signature of a message, in base64. Raises AuthError."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

    try:
        text = key_file.expanduser().read_bytes()
        openssh = b"OPENSSH PRIVATE KEY" in text
        load = serialization.load_ssh_private_key if openssh else serialization.load_pem_private_key
        key = load(text, password=None)
    except (OSError, ValueError, TypeError) as error:
        raise AuthError(f"private key {key_file}: {error}", hint="name an unencrypted OpenSSH or PEM key") from None
    match key:
        case ed25519.Ed25519PrivateKey():
            signature = key.sign(message)
        case rsa.RSAPrivateKey():
            signature = key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        case ec.EllipticCurvePrivateKey():
            wide = isinstance(key.curve, ec.SECP384R1)
            signature = key.sign(message, ec.ECDSA(hashes.SHA384() if wide else hashes.SHA256()))
        case _:
            raise AuthError(f"private key {key_file}: of a kind that is not supported", hint="use an Ed25519 key")
    return base64.b64encode(signature).decode()
