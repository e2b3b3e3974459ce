"""Signing with a private key, for servers that want one."""

import base64
from pathlib import Path

from pie_mlx.errors import AuthError


def sign(key_file: Path, challenge: str) -> str:
    """The signature of a base64 challenge, in base64. Raises AuthError."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

    try:
        text = key_file.expanduser().read_bytes()
        openssh = b"OPENSSH PRIVATE KEY" in text
        load = serialization.load_ssh_private_key if openssh else serialization.load_pem_private_key
        key = load(text, password=None)
    except (OSError, ValueError, TypeError) as error:
        raise AuthError(f"private key {key_file}: {error}", hint="name an unencrypted OpenSSH or PEM key") from None
    message = base64.b64decode(challenge)
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
