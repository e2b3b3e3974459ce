/** Restrictions of a Generator: schemas, which become constraints, and constraints, which give masks. */

import { Grammar } from './grammar.mjs';
import { Matcher } from './matcher.mjs';

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
  /** The matcher it walks with. @readonly */
  matcher;

  /** @param {Matcher} matcher */
  constructor(matcher) {
    this.matcher = matcher;
  }

  /**
   * Compile a grammar. Throws GrammarError.
   * @param {Grammar | GrammarSchema} grammar
   * @param {Model} model
   * @param {MatcherOptions} [options]
   */
  static fromGrammar(grammar, model, options = {}) {
    const source = grammar instanceof GrammarSchema ? grammar.grammar : grammar;
    return new GrammarConstraint(new Matcher(source, model.tokenizer(), options));
  }

  /**
   * Any JSON value.
   * @param {Model} model
   */
  static json(model) {
    return GrammarConstraint.fromGrammar(Grammar.json(), model);
  }

  /**
   * JSON obeying a schema. Throws GrammarError.
   * @param {string | object} schema
   * @param {Model} model
   * @param {SchemaOptions} [options]
   */
  static fromJsonSchema(schema, model, options = {}) {
    return GrammarConstraint.fromGrammar(Grammar.fromJsonSchema(schema, options), model);
  }

  /**
   * Text that matches the pattern as a whole. Throws GrammarError.
   * @param {string | RegExp} pattern
   * @param {Model} model
   */
  static fromRegex(pattern, model) {
    return GrammarConstraint.fromGrammar(Grammar.fromRegex(pattern), model);
  }

  /**
   * A grammar in Lark notation or GBNF, from the rule `root` on. Throws GrammarError.
   * @param {string} ebnf
   * @param {Model} model
   * @param {string} [root]
   */
  static fromEbnf(ebnf, model, root = '') {
    return GrammarConstraint.fromGrammar(Grammar.fromEbnf(ebnf, root), model);
  }

  /**
   * Feed tokens and read the next mask, for constraints built around a grammar. Throws GrammarRejectedError.
   * @param {Iterable<number>} accepted
   */
  step(accepted) {
    const tokens = Array.from(accepted);
    if (tokens.length > 0) this.matcher.acceptTokens(tokens);
    return this.matcher.nextTokenLogitMask();
  }
}

/** A schema that is a grammar; a Generator compiles it with its own stop tokens. */
export class GrammarSchema {
  /** The grammar. @readonly */
  grammar;

  /** @param {Grammar} grammar */
  constructor(grammar) {
    this.grammar = grammar;
  }

  /**
   * The grammar compiled for a model. Throws GrammarError.
   * @param {Model} model
   */
  buildConstraint(model) {
    return GrammarConstraint.fromGrammar(this, model);
  }
}

/** Any JSON value. */
export function anyJson() {
  return new GrammarSchema(Grammar.json());
}

/**
 * JSON obeying a schema, given as JSON text or an object. Throws GrammarError for text that is not JSON.
 * @param {string | object} schema
 * @param {SchemaOptions} [options]
 */
export function jsonSchema(schema, options = {}) {
  return new GrammarSchema(Grammar.fromJsonSchema(schema, options));
}

/**
 * Text that matches a pattern as a whole.
 * @param {string | RegExp} pattern
 */
export function regex(pattern) {
  return new GrammarSchema(Grammar.fromRegex(pattern));
}

/**
 * A grammar in Lark notation or GBNF. The text is a sentence of the rule `root`, `start` or `root` without one.
 * @param {string} source
 * @param {string} [root]
 */
export function ebnf(source, root = '') {
  return new GrammarSchema(Grammar.fromEbnf(source, root));
}

/**
 * A grammar as a schema.
 * @param {Grammar} source
 */
export function grammar(source) {
  return new GrammarSchema(source);
}
