/** The bytes of tokens, and comparisons of bytes. */

import { callNow, remembered } from '../_calls/host.mjs';

/** @import { Model } from '../model.mjs' */

/** The bytes of each token by its id. @typedef {ReadonlyMap<number, Uint8Array>} Table */

/**
 * The bytes of every token, requested once per model.
 * @param {Model} model
 * @returns {Table}
 */
export function tokenBytes({ name }) {
  return remembered(`bytes of ${name}`, () => {
    const { token_ids: ids, tokens } = callNow('read_vocabulary', { model: name });
    return new Map(ids.map((id, place) => [id, tokens[place]]));
  });
}

/**
 * The bytes of tokens, one after the other, as text with a character per byte: what no token ends inside of.
 * @param {Table} table
 * @param {Iterable<number>} tokens
 */
export function spelled(table, tokens) {
  let text = '';
  for (const token of tokens) text += latin(table.get(token));
  return text;
}

/**
 * The UTF-8 bytes of a text, with a character per byte.
 * @param {string} text
 */
export function utf8(text) {
  return Buffer.from(text).toString('latin1');
}

/** The text of bytes that `spelled` or `utf8` gave. @param {string} bytes */
export function fromUtf8(bytes) {
  return Buffer.from(bytes, 'latin1').toString();
}

/** @param {Uint8Array | undefined} bytes */
function latin(bytes) {
  return bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
