/**
 * What a value is, for messages.
 * @param {unknown} value
 */
export function kindOf(value: unknown): string;
/**
 * The text itself. Throws InvalidTypeError for anything but a string, InvalidArgumentError for lone surrogates, which
 * no wire carries.
 * @param {unknown} text
 * @param {string} what
 * @returns {string}
 */
export function checkedText(text: unknown, what: string): string;
/**
 * Whole numbers as an array. Throws InvalidTypeError for anything else.
 * @param {Iterable<number>} values
 * @param {string} what
 * @returns {number[]}
 */
export function integers(values: Iterable<number>, what: string): number[];
/**
 * A whole number. Throws InvalidTypeError for anything else.
 * @param {unknown} value
 * @param {string} what
 * @returns {number}
 */
export function integer(value: unknown, what: string): number;
/**
 * A number. Throws InvalidTypeError for anything else.
 * @param {unknown} value
 * @param {string} what
 * @returns {number}
 */
export function number(value: unknown, what: string): number;
/**
 * A whole number of up to 64 bits, which may be a bigint. Throws InvalidTypeError and InvalidArgumentError.
 * @param {unknown} value
 * @param {string} what
 * @returns {number | bigint}
 */
export function wideInteger(value: unknown, what: string): number | bigint;
/**
 * Token ids. Throws InvalidTypeError for anything else and InvalidArgumentError outside the vocabulary.
 * @param {Iterable<number>} tokens
 * @param {number} vocabularySize
 * @returns {number[]}
 */
export function tokenList(tokens: Iterable<number>, vocabularySize: number): number[];
/**
 * A largest number of tokens, null for no limit: undefined, null and Infinity. Throws InvalidArgumentError below 0.
 * @param {string} name
 * @param {number | null | undefined} value
 * @returns {number | null}
 */
export function tokenLimit(name: string, value: number | null | undefined): number | null;
