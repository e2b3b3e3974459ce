/** Structured output: the text of a reply to a value. */

import { anyJson, jsonSchema } from '../constraint.mjs';
import { StructuredOutputError } from '../errors.mjs';

/** The schema to generate under; undefined is any JSON. @param {string | object | undefined} schema */
export function planStructure(schema) {
  return schema === undefined || schema === null ? anyJson() : jsonSchema(schema);
}

/**
 * The value. Throws StructuredOutputError, with the text, when it does not parse or `parse` throws. `cutAfter`: the
 * tokens after which the text was cut short, 0 for a whole one.
 * @template T
 * @param {string} text
 * @param {((value: any) => T) | undefined} parse
 * @param {number} cutAfter
 * @returns {T}
 */
export function parseText(text, parse, cutAfter) {
  try {
    const value = JSON.parse(text, finite);
    return parse === undefined ? value : parse(value);
  } catch (error) {
    const isCut = cutAfter > 0;
    const why = isCut ? `, it is cut short after ${cutAfter} tokens` : `: ${/** @type {Error} */ (error).message ?? error}`;
    const message = `collectJson: the text does not parse${why}`;
    const hint = isCut
      ? 'raise maxTokens, or bound strings (maxLength) and arrays (maxItems) in the schema'
      : 'bound too large numbers (minimum, maximum)';
    throw Object.assign(new StructuredOutputError(message, { hint, details: { text } }), { cause: error });
  }
}

/** A grammar allows numbers that no float holds. @param {string} key @param {unknown} value */
function finite(key, value) {
  if (value === Infinity || value === -Infinity) throw new RangeError(`the number of '${key}' is too large`);
  return value;
}
