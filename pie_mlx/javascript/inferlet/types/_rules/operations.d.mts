/** The operations of rules. */
/**
 * What values hold.
 * @typedef {'float' | 'integer' | 'condition'} Kind
 *
 * What an operation takes and results in: with the shape of its inputs, or always a row or a number. `ofRow`: its first
 * input must be a row.
 * @typedef {{ inputs: Kind[], result: Kind, shape: 'inputs' | 'row' | 'number', ofRow: boolean }} Operation
 */
/** What a rule sees as the logit of a token that may not be drawn. */
export const FORBIDDEN: -1e+30;
/** @type {Readonly<Record<string, Operation>>} */
export const OPERATIONS: Readonly<Record<string, Operation>>;
/**
 * What an operation takes and results in: with the shape of its inputs, or always a row or a number. `ofRow`: its first
 * input must be a row.
 */
export type Kind = "float" | "integer" | "condition";
/**
 * What values hold.
 */
export type Operation = {
    inputs: Kind[];
    result: Kind;
    shape: "inputs" | "row" | "number";
    ofRow: boolean;
};
