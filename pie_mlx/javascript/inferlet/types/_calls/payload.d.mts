/**
 * The text of a message: a string as it is, anything else as JSON.
 * @param {string} what
 * @param {unknown} value
 */
export function messageText(what: string, value: unknown): string;
/**
 * A value as JSON. Throws InvalidTypeError for what JSON cannot hold: functions, bigints, NaN, rings, promises.
 * @param {string} what
 * @param {unknown} value
 * @returns {string}
 */
export function jsonText(what: string, value: unknown): string;
/**
 * The text of a tool or its result for the model: a string as it is, anything else as JSON, spaced like the tool
 * results that models were trained on.
 * @param {string} what
 * @param {unknown} value
 */
export function spacedText(what: string, value: unknown): string;
/**
 * The schemas of tools as JSON text.
 * @param {Iterable<string | object>} schemas
 */
export function schemaTexts(schemas: Iterable<string | object>): string[];
