/**
 * `yes` where the condition holds, `no` elsewhere.
 * @param {Value} condition
 * @param {Operand} yes
 * @param {Operand} no
 */
export function where(condition: Value, yes: Operand, no: Operand): Value;
/**
 * The larger of two values, token by token.
 * @param {Operand} first
 * @param {Operand} second
 */
export function maximum(first: Operand, second: Operand): Value;
/**
 * The smaller of two values, token by token.
 * @param {Operand} first
 * @param {Operand} second
 */
export function minimum(first: Operand, second: Operand): Value;
/**
 * The smallest value of `order` such that the tokens up to it have at least the share `mass` of `weight`.
 * @param {Value} order
 * @param {Value} weight
 * @param {Operand} mass
 */
export function massThreshold(order: Value, weight: Value, mass: Operand): Value;
/**
 * A row with, for each token, the largest of `values` that are sent to it, and `otherwise` where none is. `tokens` has the
 * id that each is sent to; ids that the row does not have go nowhere.
 * @param {Value} values
 * @param {Operand} tokens
 * @param {Operand} otherwise
 */
export function scatter(values: Value, tokens: Operand, otherwise: Operand): Value;
/**
 * A number of [0, 1) for three integers, the same each time and as if drawn at random.
 * @param {Value} first
 * @param {Operand} second
 * @param {Operand} third
 */
export function hashUniform(first: Value, second: Operand, third: Operand): Value;
/** The operations of a rule, in order; an equal one is written down once. */
export class Tracer {
    /** @type {Node[]} */
    nodes: Node[];
    /** @type {RuleArray[]} */
    arrays: RuleArray[];
    /**
     * The result of an operation. Throws InvalidArgumentError for inputs of other types, with the line.
     * @param {string} operation
     * @param {Value[]} inputs
     * @param {{ value?: number, name?: string, array?: RuleArray }} [more]
     */
    add(operation: string, inputs?: Value[], { array, value, name }?: {
        value?: number;
        name?: string;
        array?: RuleArray;
    }): Value;
    /**
     * A constant vector. Throws InvalidTypeError for what are no finite numbers, and for too many, with the line.
     * @param {Iterable<number>} values
     */
    vector(values: Iterable<number>): Value;
    /** @param {Operand} value */
    floating(value: Operand): Value;
    /**
     * As an integer of the rule. Throws InvalidTypeError for a number with a fraction.
     * @param {Operand} value
     */
    integer(value: Operand): Value;
    #private;
}
/** A number for each row of the batch, a row of them for all tokens of the vocabulary, or a vector. */
export class Value {
    private constructor();
    /** Its negative. */
    negate(): Value;
    /** Its absolute value. */
    abs(): Value;
    /** Where a condition does not hold. */
    not(): Value;
    /** @param {Operand} other */
    add(other: Operand): Value;
    /** @param {Operand} other */
    subtract(other: Operand): Value;
    /** @param {Operand} other */
    multiply(other: Operand): Value;
    /** @param {Operand} other */
    divide(other: Operand): Value;
    /** @param {Operand} other */
    less(other: Operand): Value;
    /** @param {Operand} other */
    lessEqual(other: Operand): Value;
    /** @param {Operand} other */
    greater(other: Operand): Value;
    /** @param {Operand} other */
    greaterEqual(other: Operand): Value;
    /** @param {Operand} other */
    equals(other: Operand): Value;
    /** Where both conditions hold. @param {Value} other */
    and(other: Value): Value;
    /** Where one of the conditions holds. @param {Value} other */
    or(other: Value): Value;
    /** e to the power of it. */
    exp(): Value;
    /** The natural logarithm. */
    log(): Value;
    /** The square root. */
    sqrt(): Value;
    /** The sum of a row or a vector, one number. */
    sum(): Value;
    /** The largest value of a row. */
    max(): Value;
    /** The smallest value of a row. */
    min(): Value;
    /** The mean of a row. */
    mean(): Value;
    /** The logarithm of the sum of the powers of e. */
    logSumExp(): Value;
    /** The sum up to each token, itself included: by token id, or by falling logits where there are candidates. */
    cumulativeSum(): Value;
    /**
     * A row's value at one token; at a row of tokens, a row; a vector's at a place, from 0. Ids and places that it does not
     * have give its smallest value.
     * @param {Operand} token
     */
    at(token: Operand): Value;
    /**
     * The sum of the products of two vectors, one number: of values, or of as many plain numbers.
     * @param {Value | Iterable<number>} other
     */
    dot(other: Value | Iterable<number>): Value;
    /**
     * The product of a constant matrix with a vector: a vector with a number for each of the matrix's rows, all of which are
     * as long as this one. All constants of a rule have at most 65,536 numbers.
     * @param {Iterable<Iterable<number>>} matrix
     */
    matmul(matrix: Iterable<Iterable<number>>): Value;
    /** Integers as floats. */
    toFloat(): Value;
    /** Floats without their fractions. */
    toInteger(): Value;
    toString(): string;
    #private;
}
/**
 * What a rule computes with: a value, or a number that is the same for all rows.
 */
export type Operand = Value | number;
/**
 * Operation, places of its inputs, value of a constant or place of an array, name of a parameter or state, line of the
 * program.
 */
export type Node = [string, number[], number, string, number];
import type { RuleArray } from './weights.mjs';
import type { ValueType } from './types.mjs';
