"""The digest programs and manifests are known by."""

from blake3 import blake3


def digest(data: bytes) -> str:
    """blake3 of `data`: 32 bytes as lower-case hex."""
    return blake3(data).hexdigest()


def manifest_digest(text: str) -> str:
    """The digest of a manifest, exactly as its text arrived."""
    return digest(text.encode())
