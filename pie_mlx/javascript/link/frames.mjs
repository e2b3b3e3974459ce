/** Cuts received bytes into frames: a length of four bytes, then msgpack. */

import { decode, encode } from './msgpack.mjs';

const LENGTH_BYTES = 4;
export const READ_BYTES = 64 << 10;

/** A frame with its length. */
export function pack(frame) {
  const bytes = encode(frame, LENGTH_BYTES);
  bytes.writeUInt32LE(bytes.length - LENGTH_BYTES, 0);
  return bytes;
}

export class FrameCutter {
  #bytes = Buffer.allocUnsafeSlow(2 * READ_BYTES);
  #begin = 0;
  #end = 0;

  /** Adds what `read(buffer, offset, length)` reads; returns how many bytes that were. */
  receive(read) {
    this.#makeRoom(READ_BYTES);
    const count = read(this.#bytes, this.#end, READ_BYTES);
    this.#end += count;
    return count;
  }

  feed(bytes) {
    this.#makeRoom(bytes.length);
    bytes.copy(this.#bytes, this.#end);
    this.#end += bytes.length;
  }

  /** The next frame; undefined until it is complete. */
  next() {
    const begin = this.#begin + LENGTH_BYTES;
    if (begin > this.#end) return undefined;
    const end = begin + this.#bytes.readUInt32LE(this.#begin);
    if (end > this.#end) return undefined;
    this.#begin = end;
    return decode(this.#bytes, begin, end);
  }

  #makeRoom(count) {
    const held = this.#end - this.#begin;
    if (this.#end + count > this.#bytes.length) {
      const fits = held + count <= this.#bytes.length;
      const target = fits ? this.#bytes : Buffer.allocUnsafeSlow(2 * (held + count));
      this.#bytes.copy(target, 0, this.#begin, this.#end);
      this.#bytes = target;
      this.#begin = 0;
      this.#end = held;
    }
  }
}
