"""The bytes that engine and client sign at a login.

They have no meaning in any other protocol, and a signature for one engine proves nothing to another.
"""

import base64
import hashlib

NONCE_BYTES = 32
CHALLENGE_BYTES = 48
PUBLIC_KEY_BYTES = 32
"""A raw Ed25519 key."""
_PRIME = 2**255 - 19
_CURVE_D = -121665 * pow(121666, -1, _PRIME) % _PRIME
_ENGINE, _LOGIN = b"pie-mlx engine v1\0", b"pie-mlx login v1\0"


def engine_message(nonce: bytes) -> bytes:
    """The bytes that an engine signs to prove that it has the key that it names."""
    return _ENGINE + nonce


def fingerprint(engine_key: bytes) -> str:
    """The form of a key that people compare."""
    return f"SHA256:{base64.b64encode(hashlib.sha256(engine_key).digest()).decode().rstrip('=')}"


def login_message(engine_key: bytes, challenge: bytes, username: str) -> bytes:
    """The bytes that a client signs to log in to the engine with that key. Only the last part varies in length."""
    return _LOGIN + engine_key + challenge + username.encode()


def anyone_can_sign(ed25519_key: bytes) -> bool:
    """Whether this public key is a point of order 1, 2, 4 or 8, raw: one signature in eight, by anyone, is valid.

    With y the point's second coordinate on -x^2 + y^2 = 1 + d x^2 y^2 (RFC 8032, 5.1): order 1 or 2 is y^2 = 1,
    order 4 is y = 0, and order 8 doubles to order 4, which is d y^4 + 2 y^2 = 1.
    """
    y = int.from_bytes(ed25519_key, "little") & ((1 << 255) - 1)
    square = y * y % _PRIME
    return square in (0, 1) or (_CURVE_D * square * square + 2 * square - 1) % _PRIME == 0
