/** @param {ValueType} type */
export function typeText({ kind, isRow, width }: ValueType): string;
/** The types of a rule's operations, one after the other. */
export class RuleTypes {
    /**
     * What an operation on earlier ones results in. Throws what `refusal` makes for inputs of other types or widths.
     * @param {string} operation
     * @param {number[]} places
     * @param {RuleArray | undefined} array
     * @param {Refusal} refusal
     */
    add(operation: string, places: number[], array: RuleArray | undefined, refusal: Refusal): {
        kind: Kind;
        isRow: boolean;
        width?: undefined;
    } | {
        kind: Kind;
        isRow: boolean;
        width: number;
    };
    #private;
}
/**
 * What an operation results in: a number for each row of the batch, a row of the vocabulary, or a vector with a width.
 */
export type ValueType = {
    kind: Kind;
    isRow: boolean;
    width?: number;
};
export type Refusal = (message: string, hint: string) => Error;
import type { RuleArray } from './weights.mjs';
import type { Kind } from './operations.mjs';
