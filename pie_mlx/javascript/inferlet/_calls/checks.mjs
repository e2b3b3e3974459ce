/** Checks of the tokens, texts and numbers that programs pass. */

import { InvalidArgumentError, InvalidTypeError } from '../errors.mjs';

/**
 * What a value is, for messages.
 * @param {unknown} value
 */
export function kindOf(value) {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? (value.constructor?.name ?? 'object') : typeof value;
}

/**
 * The text itself. Throws InvalidTypeError for anything but a string, InvalidArgumentError for lone surrogates, which
 * no wire carries.
 * @param {unknown} text
 * @param {string} what
 * @returns {string}
 */
export function checkedText(text, what) {
  if (typeof text !== 'string') throw new InvalidTypeError(`${what}: got ${kindOf(text)}`, { hint: 'pass a string' });
  if (!text.isWellFormed()) {
    throw new InvalidArgumentError(`${what}: not Unicode text: surrogates not allowed`, { hint: 'remove surrogates' });
  }
  return text;
}

/**
 * Whole numbers as an array. Throws InvalidTypeError for anything else.
 * @param {Iterable<number>} values
 * @param {string} what
 * @returns {number[]}
 */
export function integers(values, what) {
  if (typeof values === 'string' || typeof values?.[Symbol.iterator] !== 'function') {
    throw new InvalidTypeError(`${what}: got ${kindOf(values)}`, { hint: 'pass an array of whole numbers' });
  }
  const found = Array.from(values);
  const bad = found.findIndex((value) => !Number.isSafeInteger(value));
  if (bad >= 0) {
    const shown = typeof found[bad] === 'number' ? found[bad] : kindOf(found[bad]);
    throw new InvalidTypeError(`${what}: ${shown} is not a whole number`, { hint: 'pass an array of whole numbers' });
  }
  return found;
}

/**
 * A whole number. Throws InvalidTypeError for anything else.
 * @param {unknown} value
 * @param {string} what
 * @returns {number}
 */
export function integer(value, what) {
  if (!Number.isSafeInteger(value)) {
    const shown = typeof value === 'number' ? value : kindOf(value);
    throw new InvalidTypeError(`${what}: ${shown} is not a whole number`, { hint: 'pass a whole number' });
  }
  return /** @type {number} */ (value);
}

/**
 * A number. Throws InvalidTypeError for anything else.
 * @param {unknown} value
 * @param {string} what
 * @returns {number}
 */
export function number(value, what) {
  if (typeof value !== 'number') throw new InvalidTypeError(`${what}: got ${kindOf(value)}`, { hint: 'pass a number' });
  return value;
}

const SMALLEST_INTEGER = -(2n ** 63n);
const LARGEST_INTEGER = 2n ** 64n - 1n;

/**
 * A whole number of up to 64 bits, which may be a bigint. Throws InvalidTypeError and InvalidArgumentError.
 * @param {unknown} value
 * @param {string} what
 * @returns {number | bigint}
 */
export function wideInteger(value, what) {
  if (typeof value !== 'bigint') return integer(value, what);
  if (value < SMALLEST_INTEGER || value > LARGEST_INTEGER) {
    throw new InvalidArgumentError(`${what}: it has more than 64 bits`, { hint: 'pass a smaller number' });
  }
  return value;
}

/**
 * Token ids. Throws InvalidTypeError for anything else and InvalidArgumentError outside the vocabulary.
 * @param {Iterable<number>} tokens
 * @param {number} vocabularySize
 * @returns {number[]}
 */
export function tokenList(tokens, vocabularySize) {
  const found = integers(tokens, 'tokens');
  const bad = found.find((token) => token < 0 || token >= vocabularySize);
  if (bad !== undefined) {
    const message = `tokens: ${bad} is outside the vocabulary of ${vocabularySize}`;
    throw new InvalidArgumentError(message, { hint: 'encode text with model.tokenizer()' });
  }
  return found;
}

/**
 * A largest number of tokens, null for no limit: undefined, null and Infinity. Throws InvalidArgumentError below 0.
 * @param {string} name
 * @param {number | null | undefined} value
 * @returns {number | null}
 */
export function tokenLimit(name, value) {
  if (value === null || value === undefined || value === Infinity) return null;
  const count = integer(value, name);
  if (count < 0) {
    const hint = 'pass 0 or more, or leave it out for no limit';
    throw new InvalidArgumentError(`${name}: ${count} is negative`, { hint });
  }
  return count;
}
