/** Numbers of vectors, as rules carry them: little-endian float32. */

import { kindOf } from '../_calls/checks.mjs';

/**
 * The width of an array, and the numbers of one vector or of several.
 * @typedef {[number, Uint8Array]} RuleArray
 */

/**
 * Throws TypeError for what are no finite numbers, or none.
 * @param {Iterable<number>} values
 */
export function floats(values) {
  if (values === null || typeof values !== 'object') throw new TypeError(`got ${kindOf(values)}`);
  const found = [...values];
  if (found.length === 0) throw new TypeError('no numbers');
  const data = new DataView(new ArrayBuffer(4 * found.length));
  for (const [place, value] of found.entries()) {
    if (typeof value !== 'number') throw new TypeError(`got ${kindOf(value)}`);
    if (!Number.isFinite(Math.fround(value))) throw new TypeError('a number that is not finite');
    data.setFloat32(4 * place, value, true);
  }
  return new Uint8Array(data.buffer);
}

/** @param {Uint8Array} first @param {Uint8Array} second */
export function sameFloats(first, second) {
  return first.length === second.length && first.every((byte, place) => byte === second[place]);
}
