"""What is signed at a login, by the engine and by its client.

No other protocol gives a meaning to these bytes, and a signature for one engine proves nothing to another.
"""

import base64
import hashlib

NONCE_BYTES = 32
CHALLENGE_BYTES = 48
PUBLIC_KEY_BYTES = 32
"""Of Ed25519, raw."""
_ENGINE, _LOGIN = b"pie-mlx engine v1\0", b"pie-mlx login v1\0"


def engine_message(nonce: bytes) -> bytes:
    """What an engine signs to prove that it has the key it names."""
    return _ENGINE + nonce


def fingerprint(engine_key: bytes) -> str:
    """What people compare."""
    return f"SHA256:{base64.b64encode(hashlib.sha256(engine_key).digest()).decode().rstrip('=')}"


def login_message(engine_key: bytes, challenge: bytes, username: str) -> bytes:
    """What a client signs to log in to the engine with that public key. All but the last part have a fixed length."""
    return _LOGIN + engine_key + challenge + username.encode()
