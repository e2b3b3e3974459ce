/** A value as msgpack, after `room` unwritten bytes. */
export function encode(value: any, room?: number): Buffer<ArrayBuffer>;
/** The value that `bytes` hold from `begin` to `end`. Throws RangeError if they hold something else. */
export function decode(bytes: any, begin?: number, end?: any): any;
