/**
 * The parameters of a rule: their defaults, `undefined` where there is none; a `whole` one is an integer, a `vector` as
 * wide as the model's hidden states.
 * @typedef {Record<string, number | undefined | Whole | Vector>} Parameters
 */
/**
 * What a rule answers: the new logits, a row, or a condition that ends the text after the token that was drawn, for
 * `generator.until`. With it the next values of states; or both.
 * @typedef {Value | { logits?: Value, states?: Record<string, Operand>, until?: Value }} Answer
 */
/**
 * A rule; called with its parameters it is what `sampler.ruled` takes. Those left out have their defaults. Throws
 * InvalidArgumentError for parameters that are missing or unknown, InvalidTypeError for other values.
 * @template {string} K
 * @template {string} [V=never]
 * @typedef {(parameters?: { readonly [name in K]?: number } & { readonly [name in V]?: Iterable<number> }) => RuleUse} Rule
 */
/**
 * The names of the parameters of one kind.
 * @template {Parameters} P
 * @template K
 * @typedef {{ [name in keyof P]: P[name] extends K ? name : never }[keyof P] & string} NamesOf
 */
/**
 * An integer parameter of a rule, with its default if there is one.
 * @param {number} [value]
 */
export function whole(value?: number): Whole;
/** A parameter of a rule that is as many numbers as a hidden state of the model has. */
export function vector(): Vector;
/**
 * Makes a rule of a function that takes a `Row` and the values of parameters, and answers the new logits. It runs once,
 * when the rule is first called, on symbolic values; what it writes down runs on the device for each row. A parameter of
 * which it answers the next value is a state: the call of the rule says what it is at first. With `candidates` it sees
 * that many most likely tokens, in order, and all others are forbidden: then sorting and running sums cost little.
 * `others` names rows of other contexts, which the Generator gets: `ctx.generate(sampler, { others: [...] })`.
 *
 * That call throws InvalidTypeError for what cannot be traced and InvalidArgumentError for types that do not fit, each
 * with the program's line.
 * @template {Parameters} [P={}]
 * @template {string} [O=never]
 * @param {(row: Row, values: { readonly [name in keyof P]: Value }, others: { readonly [name in O]: OtherRow }) => Answer} traced
 * @param {{ parameters?: P, candidates?: number, others?: readonly O[] }} [options]
 * @returns {Rule<Exclude<keyof P & string, NamesOf<P, Vector>>, NamesOf<P, Vector>>}
 */
export function rule<P extends Parameters = {}, O extends string = never>(traced: (row: Row, values: { readonly [name in keyof P]: Value; }, others: { readonly [name in O]: OtherRow; }) => Answer, { parameters, candidates, others }?: {
    parameters?: P;
    candidates?: number;
    others?: readonly O[];
}): Rule<Exclude<keyof P & string, NamesOf<P, Vector>>, NamesOf<P, Vector>>;
/** @import { RuleGraph } from './use.mjs' */
/** @import { Node, Operand } from './values.mjs' */
/** A parameter that is a whole number: a token, or a key. */
export class Whole {
    /** @param {number} [value] */
    constructor(value?: number);
    value: number | undefined;
}
/** A parameter that is as many numbers as a hidden state of the model has. */
export class Vector {
    /** Types tell it from others by this. */
    width: string;
}
/**
 * The parameters of a rule: their defaults, `undefined` where there is none; a `whole` one is an integer, a `vector` as
 * wide as the model's hidden states.
 */
export type Parameters = Record<string, number | undefined | Whole | Vector>;
/**
 * What a rule answers: the new logits, a row, or a condition that ends the text after the token that was drawn, for
 * `generator.until`. With it the next values of states; or both.
 */
export type Answer = Value | {
    logits?: Value;
    states?: Record<string, Operand>;
    until?: Value;
};
/**
 * A rule; called with its parameters it is what `sampler.ruled` takes. Those left out have their defaults. Throws
 * InvalidArgumentError for parameters that are missing or unknown, InvalidTypeError for other values.
 */
export type Rule<K extends string, V extends string = never> = (parameters?: { readonly [name in K]?: number; } & { readonly [name in V]?: Iterable<number>; }) => RuleUse;
/**
 * The names of the parameters of one kind.
 */
export type NamesOf<P extends Parameters, K> = { [name in keyof P]: P[name] extends K ? name : never; }[keyof P] & string;
import { Row } from './row.mjs';
import { Value } from './values.mjs';
import { OtherRow } from './other_row.mjs';
import type { Operand } from './values.mjs';
import { RuleUse } from './use.mjs';
