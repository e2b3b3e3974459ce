"""Public keys of users: reading them, their fingerprints, and verifying signatures."""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_public_key,
    load_ssh_public_key,
)

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.login import anyone_can_sign

RSA_BITS = (2048, 8192)
_HINT = "paste the line that 'pie auth new-key' prints, or that of a .pub file"
_CURVES = {"secp256r1": ("ecdsa-sha2-nistp256", SHA256), "secp384r1": ("ecdsa-sha2-nistp384", SHA384)}
_OPENSSH = ("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384")
_PEM = ("-----BEGIN PUBLIC KEY-----", "-----BEGIN RSA PUBLIC KEY-----")
_REFUSED = {
    r"sk-(ssh|ecdsa)-\S+": "hardware-backed keys are not supported",
    r"\S+-cert-v01@openssh\.com": "certificates are not supported",
    r"ssh-dss": "DSA keys are not supported",
    r"ecdsa-sha2-nistp521": "P-521 keys are not supported",
    r"-----BEGIN CERTIFICATE-----.*": "certificates are not supported",
}

Supported = ed25519.Ed25519PublicKey | rsa.RSAPublicKey | ec.EllipticCurvePublicKey


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key as given, its type in OpenSSH's words, and `SHA256:...` as ssh-keygen shows it."""

    text: str
    type: str
    fingerprint: str
    key: Supported

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether `signature` over `message` was made with the private half.

        Ed25519: 64 raw bytes; RSA: PKCS#1 v1.5 with SHA-256; ECDSA: DER, with SHA-256 on P-256, SHA-384 on P-384.
        """
        try:
            match self.key:
                case rsa.RSAPublicKey():
                    self.key.verify(signature, message, padding.PKCS1v15(), SHA256())
                case ec.EllipticCurvePublicKey():
                    self.key.verify(signature, message, ec.ECDSA(_CURVES[self.key.curve.name][1]()))
                case _:
                    self.key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


def parse_public_key(text: str) -> PublicKey:
    """Read an OpenSSH line, or PEM. Raises InvalidArgumentError, which never repeats the input."""
    text = text.strip()
    if "PRIVATE KEY" in text:
        raise InvalidArgumentError("key: that is a private key: never give it away", hint=_HINT)
    first = text.split(maxsplit=1)[0] if text else ""
    for pattern, why in _REFUSED.items():
        if re.fullmatch(pattern, text.partition("\n")[0] if first.startswith("-----") else first):
            raise InvalidArgumentError(f"key: {why}", hint="use an Ed25519, RSA, P-256 or P-384 key")
    key = _supported(_load(text, first))
    line = key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    type, blob = line.split()[:2]
    fingerprint = base64.b64encode(hashlib.sha256(base64.b64decode(blob)).digest()).rstrip(b"=")
    return PublicKey(text, type.decode(), f"SHA256:{fingerprint.decode()}", key)


def _load(text: str, first: str) -> PublicKeyTypes:
    try:
        if first in _OPENSSH and "\n" not in text:
            return load_ssh_public_key(text.encode())
        if text.startswith(_PEM):
            return load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm, binascii.Error):
        raise InvalidArgumentError("key: it is damaged", hint=_HINT) from None
    what = "nothing was given" if not text else "neither an OpenSSH line nor a PEM public key"
    raise InvalidArgumentError(f"key: {what}", hint=_HINT)


def _supported(key: PublicKeyTypes) -> Supported:
    match key:
        case ed25519.Ed25519PublicKey():
            if anyone_can_sign(key.public_bytes_raw()):
                raise InvalidArgumentError("key: anybody can sign for it", hint=_HINT)
            return key
        case rsa.RSAPublicKey():
            low, high = RSA_BITS
            if not low <= key.key_size <= high:
                raise InvalidArgumentError(f"key: RSA of {key.key_size} bits: expected {low} to {high}", hint=_HINT)
            return key
        case ec.EllipticCurvePublicKey() if key.curve.name in _CURVES:
            return key
        case ec.EllipticCurvePublicKey():
            why = "P-521 keys are" if key.curve.name == "secp521r1" else f"the curve {key.curve.name} is"
        case dsa.DSAPublicKey():
            why = "DSA keys are"
        case _:
            why = f"{type(key).__name__.removesuffix('PublicKey')} keys are"
    raise InvalidArgumentError(f"key: {why} not supported", hint="use an Ed25519, RSA, P-256 or P-384 key")
