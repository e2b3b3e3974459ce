/**
 * The width of an array, and the numbers of one vector or of several.
 * @typedef {[number, Uint8Array]} RuleArray
 */
/**
 * Throws TypeError for what are no finite numbers, or none.
 * @param {Iterable<number>} values
 */
export function floats(values: Iterable<number>): Uint8Array<ArrayBuffer>;
/** @param {Uint8Array} first @param {Uint8Array} second */
export function sameFloats(first: Uint8Array, second: Uint8Array): boolean;
/**
 * The width of an array, and the numbers of one vector or of several.
 */
export type RuleArray = [number, Uint8Array];
