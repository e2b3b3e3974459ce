/** Any JSON value. */
export function anyJson(): GrammarSchema;
/**
 * JSON obeying a schema, given as JSON text or an object. Throws GrammarError for text that is not JSON.
 * @param {string | object} schema
 * @param {SchemaOptions} [options]
 */
export function jsonSchema(schema: string | object, options?: SchemaOptions): GrammarSchema;
/**
 * Text that matches a pattern as a whole.
 * @param {string | RegExp} pattern
 */
export function regex(pattern: string | RegExp): GrammarSchema;
/**
 * A grammar in Lark notation or GBNF. The text is a sentence of the rule `root`, `start` or `root` without one.
 * @param {string} source
 * @param {string} [root]
 */
export function ebnf(source: string, root?: string): GrammarSchema;
/**
 * A grammar as a schema.
 * @param {Grammar} source
 */
export function grammar(source: Grammar): GrammarSchema;
/** @import { Brle } from './brle.mjs' */
/** @import { SchemaOptions } from './grammar.mjs' */
/** @import { MatcherOptions } from './matcher.mjs' */
/** @import { Model } from './model.mjs' */
/**
 * Restricts each next token. `step` gives the logit mask of the next token; an empty one restricts nothing. `accepted`
 * is empty first, then exactly the tokens accepted since the last call.
 * @typedef {{ step(accepted: Uint32Array): Brle }} Constraint
 */
/**
 * Describes a constraint without a model. `buildConstraint` gives the constraint for a model, in its initial state.
 * @typedef {{ buildConstraint(model: Model): Constraint }} Schema
 */
/**
 * A grammar's matcher as a constraint. In a Generator its masks never leave the engine.
 *
 * It carries the state of one generation: give every Generator its own (`matcher.fork` copies the state).
 */
export class GrammarConstraint {
    /**
     * Compile a grammar. Throws GrammarError.
     * @param {Grammar | GrammarSchema} grammar
     * @param {Model} model
     * @param {MatcherOptions} [options]
     */
    static fromGrammar(grammar: Grammar | GrammarSchema, model: Model, options?: MatcherOptions): GrammarConstraint;
    /**
     * Any JSON value.
     * @param {Model} model
     */
    static json(model: Model): GrammarConstraint;
    /**
     * JSON obeying a schema. Throws GrammarError.
     * @param {string | object} schema
     * @param {Model} model
     * @param {SchemaOptions} [options]
     */
    static fromJsonSchema(schema: string | object, model: Model, options?: SchemaOptions): GrammarConstraint;
    /**
     * Text that matches the pattern as a whole. Throws GrammarError.
     * @param {string | RegExp} pattern
     * @param {Model} model
     */
    static fromRegex(pattern: string | RegExp, model: Model): GrammarConstraint;
    /**
     * A grammar in Lark notation or GBNF, from the rule `root` on. Throws GrammarError.
     * @param {string} ebnf
     * @param {Model} model
     * @param {string} [root]
     */
    static fromEbnf(ebnf: string, model: Model, root?: string): GrammarConstraint;
    /** @param {Matcher} matcher */
    constructor(matcher: Matcher);
    /** The matcher it walks with. @readonly */
    readonly matcher: Matcher;
    /**
     * Feed tokens and read the next mask, for constraints built around a grammar. Throws GrammarRejectedError.
     * @param {Iterable<number>} accepted
     */
    step(accepted: Iterable<number>): Uint32Array<ArrayBuffer>;
}
/** A schema that is a grammar; a Generator compiles it with its own stop tokens. */
export class GrammarSchema {
    /** @param {Grammar} grammar */
    constructor(grammar: Grammar);
    /** The grammar. @readonly */
    readonly grammar: Grammar;
    /**
     * The grammar compiled for a model. Throws GrammarError.
     * @param {Model} model
     */
    buildConstraint(model: Model): GrammarConstraint;
}
/**
 * Restricts each next token. `step` gives the logit mask of the next token; an empty one restricts nothing. `accepted`
 * is empty first, then exactly the tokens accepted since the last call.
 */
export type Constraint = {
    step(accepted: Uint32Array): Brle;
};
/**
 * Describes a constraint without a model. `buildConstraint` gives the constraint for a model, in its initial state.
 */
export type Schema = {
    buildConstraint(model: Model): Constraint;
};
import type { SchemaOptions } from './grammar.mjs';
import { Grammar } from './grammar.mjs';
import { Matcher } from './matcher.mjs';
import type { Model } from './model.mjs';
import type { MatcherOptions } from './matcher.mjs';
import type { Brle } from './brle.mjs';
