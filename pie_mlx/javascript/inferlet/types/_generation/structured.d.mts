/** The schema to generate under; undefined is any JSON. @param {string | object | undefined} schema */
export function planStructure(schema: string | object | undefined): import("../constraint.mjs").GrammarSchema;
/**
 * The value. Throws StructuredOutputError, with the text, when it does not parse or `parse` throws. `cutAfter`: the
 * tokens after which the text was cut short, 0 for a whole one.
 * @template T
 * @param {string} text
 * @param {((value: any) => T) | undefined} parse
 * @param {number} cutAfter
 * @returns {T}
 */
export function parseText<T>(text: string, parse: ((value: any) => T) | undefined, cutAfter: number): T;
