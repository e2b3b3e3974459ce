/** Values that programs send: text as it is, everything else as JSON text. */

import { InvalidTypeError } from '../errors.mjs';
import { checkedText } from './checks.mjs';

/**
 * The text of a message: a string as it is, anything else as JSON.
 * @param {string} what
 * @param {unknown} value
 */
export function messageText(what, value) {
  return typeof value === 'string' ? checkedText(value, what) : jsonText(what, value);
}

/**
 * A value as JSON. Throws InvalidTypeError for what JSON cannot hold: functions, bigints, NaN, rings, promises.
 * @param {string} what
 * @param {unknown} value
 * @returns {string}
 */
export function jsonText(what, value) {
  return checkedText(encoded(what, value), what);
}

/**
 * The text of a tool or its result for the model: a string as it is, anything else as JSON, spaced like the tool
 * results that models were trained on.
 * @param {string} what
 * @param {unknown} value
 */
export function spacedText(what, value) {
  return typeof value === 'string' ? checkedText(value, what) : spaced(JSON.parse(jsonText(what, value)));
}

/**
 * The schemas of tools as JSON text.
 * @param {Iterable<string | object>} schemas
 */
export function schemaTexts(schemas) {
  return Array.from(schemas, (schema) => spacedText('tool schema', schema));
}

/** @param {string} what @param {unknown} value */
function encoded(what, value) {
  try {
    const text = JSON.stringify(value, (_, part) => held(part));
    if (text !== undefined) return text;
  } catch (error) {
    throw refusal(
      what,
      error instanceof RangeError ? 'it is nested too deeply' : String(/** @type {any} */ (error).message),
    );
  }
  throw refusal(what, 'undefined is not JSON');
}

/** @param {unknown} part */
function held(part) {
  if (typeof part === 'number' && !Number.isFinite(part)) throw new TypeError(`${part} is not JSON`);
  if (typeof part === 'function' || typeof part === 'symbol') throw new TypeError(`a ${typeof part} is not JSON`);
  if (part instanceof Promise) throw new TypeError("a promise has not been awaited: write 'await' before it");
  return part;
}

/** @param {string} what @param {string} why */
function refusal(what, why) {
  return new InvalidTypeError(`${what}: ${why}`, { hint: 'use a string or values JSON can hold' });
}

/** @param {any} value @returns {string} */
function spaced(value) {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, part]) => `${JSON.stringify(key)}: ${spaced(part)}`)
    .join(', ')}}`;
}
