"""What one codec writes the other reads."""

import struct
from collections.abc import Callable, Iterator

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.javascript.node import start_node

ECHO = """
const { encode, decode } = await javascript('link/msgpack.mjs');
const fs = await import('node:fs');
const whole = (count) => {
  const bytes = Buffer.alloc(count);
  for (let at = 0; at < count; ) {
    const read = fs.readSync(0, bytes, at, count - at, null);
    if (read === 0) process.exit(0);
    at += read;
  }
  return bytes;
};
for (;;) {
  const bytes = whole(whole(4).readUInt32LE(0));
  let answer;
  try {
    answer = encode(decode(bytes), 4);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    answer = encode({ refused: error.message }, 4);
  }
  answer.writeUInt32LE(answer.length - 4, 0);
  for (let at = 0; at < answer.length; ) at += fs.writeSync(1, answer, at);
}
"""

Echo = Callable[[bytes], bytes]


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    """Decodes a message in Node, and encodes it there again."""
    with start_node(ECHO) as node:
        assert node.stdin is not None
        assert node.stdout is not None

        def through(message: bytes) -> bytes:
            assert node.stdin is not None
            assert node.stdout is not None
            node.stdin.write(struct.pack("<I", len(message)) + message)
            node.stdin.flush()
            (length,) = struct.unpack("<I", node.stdout.read(4))
            return node.stdout.read(length)

        yield through
        node.stdin.close()


floats = st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1e300, 5e-324])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | floats | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@given(values)
@example({"__proto__": 1, "constructor": [2**53, -(2**53), 2**64 - 1, -(2**63)]})
@example(["x" * 300, "ü" * 40_000, b"y" * 70_000, list(range(70_000))])
@example({str(number): number for number in range(70_000)})
def test_a_value_returns_as_it_was(echo: Echo, value: object) -> None:
    assert msgspec.msgpack.decode(echo(msgspec.msgpack.encode(value))) == value


@given(st.binary(max_size=40))
def test_any_bytes_are_a_value_or_are_refused(echo: Echo, data: bytes) -> None:
    assert msgspec.msgpack.decode(echo(data), strict=False) is not ...  # whatever it is: the reader goes on


def test_a_shortened_message_is_refused(echo: Echo) -> None:
    whole = msgspec.msgpack.encode({"text": "a" * 40, "numbers": [1.5, 2**40], "data": b"xyz"})
    for end in range(len(whole)):
        assert "it ends early" in msgspec.msgpack.decode(echo(whole[:end]))["refused"]


def test_typed_arrays_and_maps_are_sent_as_arrays_and_maps() -> None:
    code = """
    const { encode } = await javascript('link/msgpack.mjs');
    const arrays = [new Uint32Array([1, 4294967295]), new Float32Array([0.5])];
    process.stdout.write(encode([...arrays, new Map([[7, -1.5]]), { left: undefined, kept: null }]));
    """
    with start_node(code) as node:
        found, _ = node.communicate()
    assert msgspec.msgpack.decode(found, strict=False) == [[1, 4294967295], [0.5], {7: -1.5}, {"kept": None}]
