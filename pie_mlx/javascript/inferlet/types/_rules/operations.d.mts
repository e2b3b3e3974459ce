/** The operations of rules. */
/**
 * What values hold.
 * @typedef {'float' | 'integer' | 'condition'} Kind
 *
 * What an operation takes and results in: with the shape of its inputs, or always a row, a number or a vector. `of` is
 * what its first input must be.
 * @typedef {{
 *   inputs: Kind[],
 *   result: Kind,
 *   shape: 'inputs' | 'row' | 'number' | 'vector',
 *   of: 'anything' | 'row' | 'vector' | 'row or vector',
 * }} Operation
 */
/** What a rule sees as the logit of a token that may not be drawn. */
export const FORBIDDEN: -1e+30;
/** The most operations of a rule. */
export const MOST_OPERATIONS: 256;
/** The most numbers in all arrays of a rule. */
export const MOST_WEIGHTS: 65536;
/** Operations that name an array, by its place. */
export const ARRAY_OPERATIONS: string[];
/** Operations that the first version of the format does not have. */
export const VECTOR_OPERATIONS: string[];
/** @type {Readonly<Record<string, Operation>>} */
export const OPERATIONS: Readonly<Record<string, Operation>>;
/**
 * What an operation takes and results in: with the shape of its inputs, or always a row, a number or a vector. `of` is
 * what its first input must be.
 */
export type Kind = "float" | "integer" | "condition";
/**
 * What values hold.
 */
export type Operation = {
    inputs: Kind[];
    result: Kind;
    shape: "inputs" | "row" | "number" | "vector";
    of: "anything" | "row" | "vector" | "row or vector";
};
