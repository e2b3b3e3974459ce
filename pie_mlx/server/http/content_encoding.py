"""Bodies that a client has compressed, decoded piece by piece, so that no piece grows beyond what is read at once."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Protocol

DECODED_PIECE_BYTES = 64 << 10
_GZIP = frozenset({"gzip", "x-gzip"})
_GZIP_FORMAT = 16 + zlib.MAX_WBITS


class UnknownEncodingError(Exception):
    """A body is encoded in another way than gzip."""


class DamagedBodyError(Exception):
    """A body is not what its encoding says."""


class Decoder(Protocol):
    """Decodes one body."""

    def decode(self, data: bytes) -> Iterator[bytes]:
        """The next bytes, in pieces. Raises DamagedBodyError."""
        ...

    def finish(self) -> None:
        """Raises DamagedBodyError if the body is cut."""


def decoder_of(headers: Iterable[tuple[bytes, bytes]]) -> Decoder:
    """The decoder for a body with these headers. Raises UnknownEncodingError."""
    named = ",".join(value.decode("latin-1") for name, value in headers if name == b"content-encoding")
    encodings = [name for part in named.lower().split(",") if (name := part.strip()) not in ("", "identity")]
    if not encodings:
        return _Plain()
    if len(encodings) > 1 or encodings[0] not in _GZIP:
        raise UnknownEncodingError(", ".join(encodings))
    return _Gzip()


class _Plain:
    def decode(self, data: bytes) -> Iterator[bytes]:
        yield data

    def finish(self) -> None:
        pass


class _Gzip:
    """One member: none of the clients sends several, and thousands of empty ones would take long."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_GZIP_FORMAT)

    def decode(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._stream.eof:
                raise DamagedBodyError("something follows its end")
            try:
                piece = self._stream.decompress(data, DECODED_PIECE_BYTES)
            except zlib.error:
                raise DamagedBodyError("it is damaged") from None
            data = self._stream.unconsumed_tail or self._stream.unused_data
            yield piece

    def finish(self) -> None:
        if not self._stream.eof:
            raise DamagedBodyError("its end is missing")
