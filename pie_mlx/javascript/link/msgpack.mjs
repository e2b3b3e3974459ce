/**
 * A msgpack codec for frames: nil, booleans, numbers, text, bytes, arrays and maps. No extensions.
 *
 * Integers within 64 bits are sent as such, also when they are numbers; those that a number cannot hold exactly arrive as
 * bigint. `undefined` fields are left out. Bytes are `Uint8Array`; other typed arrays are sent as arrays of numbers.
 */

const FIRST_BYTES = 1 << 16;
const LARGEST_KEPT_BYTES = 1 << 20;
const SHORT_TEXT = 32;
const UINT64_END = 2 ** 64;
const INT64_BEGIN = -(2 ** 63);

/** Grows as values are written to it. */
class Writer {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  end = 0;

  room(count) {
    if (this.end + count <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.end + count));
    this.bytes.copy(larger, 0, 0, this.end);
    this.bytes = larger;
  }

  value(value) {
    this.room(9);
    switch (typeof value) {
      case 'number':
        return this.number(value);
      case 'string':
        return this.text(value);
      case 'boolean':
        return this.byte(value ? 0xc3 : 0xc2);
      case 'undefined':
        return this.byte(0xc0);
      case 'bigint':
        return this.bigint(value);
      case 'object':
        return value === null ? this.byte(0xc0) : this.object(value);
      default:
        throw new TypeError(`a ${typeof value} cannot be sent to the engine`);
    }
  }

  byte(byte) {
    this.bytes[this.end++] = byte;
  }

  number(value) {
    if (!Number.isInteger(value) || Object.is(value, -0) || value >= UINT64_END || value < INT64_BEGIN) {
      this.byte(0xcb);
      this.end = this.bytes.writeDoubleBE(value, this.end);
    } else if (value >= 0) this.natural(value);
    else if (value >= -32) this.byte(0x100 + value);
    else if (value >= -0x80000000) {
      this.byte(0xd2);
      this.end = this.bytes.writeInt32BE(value, this.end);
    } else this.bigint(BigInt(value));
  }

  natural(value) {
    if (value < 0x80) this.byte(value);
    else if (value <= 0xffffffff) this.sized(value, 0xcc, 0xcd, 0xce);
    else this.bigint(BigInt(value));
  }

  bigint(value) {
    this.byte(value >= 0n ? 0xcf : 0xd3);
    this.end = value >= 0n ? this.bytes.writeBigUInt64BE(value, this.end) : this.bytes.writeBigInt64BE(value, this.end);
  }

  /** A code that says how many bytes `value` takes, and those; 0 for a width that does not exist. */
  sized(value, one, two, four) {
    if (one && value <= 0xff) {
      this.byte(one);
      this.byte(value);
    } else if (value <= 0xffff) {
      this.byte(two);
      this.end = this.bytes.writeUInt16BE(value, this.end);
    } else {
      this.byte(four);
      this.end = this.bytes.writeUInt32BE(value, this.end);
    }
  }

  text(text) {
    if (text.length < SHORT_TEXT && this.shortAscii(text)) return;
    const size = Buffer.byteLength(text);
    this.room(size + 5);
    if (size < 32) this.byte(0xa0 | size);
    else this.sized(size, 0xd9, 0xda, 0xdb);
    this.end += this.bytes.write(text, this.end);
  }

  shortAscii(text) {
    this.room(SHORT_TEXT);
    let at = this.end + 1;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      this.bytes[at++] = code;
    }
    this.byte(0xa0 | text.length);
    this.end = at;
    return true;
  }

  object(value) {
    if (value instanceof Uint8Array) this.data(value);
    else if (Array.isArray(value)) {
      this.count(value.length, 0x90, 0xdc, 0xdd);
      for (const one of value) this.value(one);
    } else if (ArrayBuffer.isView(value)) this.numbers(value);
    else if (value instanceof Map) {
      this.count(value.size, 0x80, 0xde, 0xdf);
      for (const [key, one] of value) {
        this.value(key);
        this.value(one);
      }
    } else this.fields(value);
  }

  count(count, fixed, two, four) {
    if (count < 16) this.byte(fixed | count);
    else this.sized(count, 0, two, four);
  }

  data(data) {
    this.room(data.length + 5);
    this.sized(data.length, 0xc4, 0xc5, 0xc6);
    this.bytes.set(data, this.end);
    this.end += data.length;
  }

  numbers(array) {
    this.count(array.length, 0x90, 0xdc, 0xdd);
    this.room(9 * array.length);
    for (let i = 0; i < array.length; i++) this.number(array[i]);
  }

  fields(value) {
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    this.count(names.length, 0x80, 0xde, 0xdf);
    for (const name of names) {
      this.text(name);
      this.value(value[name]);
    }
  }
}

let spare = new Writer();

/** A value as msgpack, after `room` unwritten bytes. */
export function encode(value, room = 0) {
  const writer = spare;
  spare = new Writer(); // a getter of `value` may encode
  try {
    writer.end = room;
    writer.value(value);
    return Buffer.from(writer.bytes.subarray(0, writer.end));
  } finally {
    if (writer.bytes.length <= LARGEST_KEPT_BYTES) spare = writer;
  }
}

/** The value that `bytes` hold from `begin` to `end`. Throws RangeError if they hold something else. */
export function decode(bytes, begin = 0, end = bytes.length) {
  const reader = new Reader(bytes, begin, end);
  const value = reader.value();
  if (reader.at !== end) throw malformed(`${end - reader.at} bytes follow it`);
  return value;
}

function malformed(why) {
  return new RangeError(`malformed msgpack: ${why}`);
}

class Reader {
  constructor(bytes, begin, end) {
    this.bytes = bytes;
    this.at = begin;
    this.end = end;
  }

  /** Where the next `count` bytes begin; they are then read. */
  take(count) {
    const at = this.at;
    if (at + count > this.end) throw malformed('it ends early');
    this.at = at + count;
    return at;
  }

  value() {
    const code = this.bytes[this.take(1)];
    if (code < 0x80) return code;
    if (code < 0x90) return this.map(code & 0x0f);
    if (code < 0xa0) return this.array(code & 0x0f);
    if (code < 0xc0) return this.text(code & 0x1f);
    if (code >= 0xe0) return code - 0x100;
    return this.other(code);
  }

  other(code) {
    const bytes = this.bytes;
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xca:
        return bytes.readFloatBE(this.take(4));
      case 0xcb:
        return bytes.readDoubleBE(this.take(8));
      case 0xcf:
        return plain(bytes.readBigUInt64BE(this.take(8)));
      case 0xd0:
        return bytes.readInt8(this.take(1));
      case 0xd1:
        return bytes.readInt16BE(this.take(2));
      case 0xd2:
        return bytes.readInt32BE(this.take(4));
      case 0xd3:
        return plain(bytes.readBigInt64BE(this.take(8)));
    }
    if (code >= 0xc4 && code <= 0xc6) return this.data(this.natural(code - 0xc4));
    if (code >= 0xcc && code <= 0xce) return this.natural(code - 0xcc);
    if (code >= 0xd9 && code <= 0xdb) return this.text(this.natural(code - 0xd9));
    if (code === 0xdc || code === 0xdd) return this.array(this.natural(code - 0xdb));
    if (code === 0xde || code === 0xdf) return this.map(this.natural(code - 0xdd));
    throw malformed(`byte ${code}`);
  }

  /** A natural number in 1, 2 or 4 bytes, for widths 0 to 2. */
  natural(width) {
    if (width === 0) return this.bytes[this.take(1)];
    return width === 1 ? this.bytes.readUInt16BE(this.take(2)) : this.bytes.readUInt32BE(this.take(4));
  }

  text(size) {
    const begin = this.take(size);
    if (size >= SHORT_TEXT) return this.bytes.utf8Slice(begin, begin + size);
    let text = '';
    for (let at = begin; at < begin + size; at++) {
      const code = this.bytes[at];
      if (code > 0x7f) return this.bytes.utf8Slice(begin, begin + size);
      text += String.fromCharCode(code);
    }
    return text;
  }

  data(size) {
    const begin = this.take(size);
    return new Uint8Array(this.bytes.subarray(begin, begin + size));
  }

  array(count) {
    const values = [];
    for (let i = 0; i < count; i++) values.push(this.value());
    return values;
  }

  map(count) {
    const fields = {};
    for (let i = 0; i < count; i++) {
      const name = this.value();
      const value = this.value();
      if (name === '__proto__') Object.defineProperty(fields, name, { value, ...OWN });
      else fields[name] = value;
    }
    return fields;
  }
}

const OWN = { configurable: true, enumerable: true, writable: true };

function plain(value) {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
