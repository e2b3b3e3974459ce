/** All constraints of one Generator together. */

import { kindOf } from '../_calls/checks.mjs';
import * as brle from '../brle.mjs';
import { GrammarConstraint, GrammarSchema } from '../constraint.mjs';
import { EmptyMaskError, InvalidArgumentError, InvalidTypeError, PieError } from '../errors.mjs';
import { Grammar } from '../grammar.mjs';
import { thoughtLimit } from './thinking.mjs';

/** @import { Brle } from '../brle.mjs' */
/** @import { Constraint, Schema } from '../constraint.mjs' */
/** @import { Model } from '../model.mjs' */

/** A grammar whose matcher the engine advances. `source` is undefined when the program compiled it. */
class Matched {
  /**
   * @param {string} name
   * @param {GrammarConstraint} constraint
   * @param {Grammar} [source]
   * @param {string} [behind]
   */
  constructor(name, constraint, source = undefined, behind = '') {
    this.name = name;
    this.constraint = constraint;
    this.source = source;
    this.behind = behind;
  }

  /** What must not be given twice. */
  get state() {
    return this.constraint.matcher;
  }
}

/**
 * A constraint of the program. Its mask is kept until tokens are accepted, so that a failed step can be repeated
 * without passing the same tokens to the constraint twice.
 */
class Stepped {
  /** @type {number[]} */
  #unseen = [];
  /** @type {number[] | undefined} */
  #mask;

  /** @param {string} name @param {Constraint} constraint */
  constructor(name, constraint) {
    this.name = name;
    this.constraint = constraint;
  }

  get state() {
    return this.constraint;
  }

  current() {
    if (this.#mask === undefined) {
      const mask = this.constraint.step(Uint32Array.from(this.#unseen));
      this.#mask = brle.restriction(mask, `mask of ${this.name}.step`);
      this.#unseen = [];
    }
    return this.#mask;
  }

  /** @param {number[]} tokens */
  recordAccepted(tokens) {
    this.#unseen.push(...tokens);
    this.#mask = undefined;
  }
}

/** Constraints compose: a token must be allowed by all of them. Grammars stay in the engine, the rest are masks. */
export class ConstraintSet {
  #model;
  #fixed;
  /** @type {Stepped[]} */
  #stepped = [];
  /** @type {Matched[]} */
  #matched = [];

  /** The ids of the matchers. @type {number[]} */
  matchers = [];
  /** The tokens that end one of the grammars. @type {ReadonlySet<number>} */
  endTokens = new Set();
  /** A constraint of the program must see each token before it allows the next. */
  looksBack = false;

  /** @param {Model} model @param {Brle} fixed */
  constructor(model, fixed) {
    this.#model = model;
    this.#fixed = brle.restriction(fixed);
  }

  /**
   * Add a schema, a constraint or an array of them; grammars begin `behind` that text. Throws InvalidTypeError for
   * anything else, InvalidArgumentError for a constraint that was added before, GrammarError.
   * @param {unknown} item
   * @param {Iterable<number>} stopTokens
   * @param {string} behind
   */
  attach(item, stopTokens, behind) {
    const items = Array.isArray(item) ? item : [item];
    const added = items.map((one) => this.#entry(one, stopTokens, behind));
    checkApart([...this.#stepped, ...this.#matched, ...added]);
    for (const made of added) {
      if (made instanceof Matched) this.#matched.push(made);
      else this.#stepped.push(made);
    }
    this.#sumUp();
  }

  /**
   * Let the thoughts of the reply take no more than `tokens`; `behind` is what the cue just written waits for. null is
   * no limit, and a model that has no thoughts needs none.
   * @param {number | null} tokens
   * @param {string} behind
   */
  limitThoughts(tokens, behind) {
    const grammar = tokens === null ? undefined : thoughtLimit(this.#model.info.formats, tokens, behind !== '');
    if (grammar === undefined) return;
    this.#matched.push(new Matched('thinkingBudget', this.#compile(grammar, [], ''), grammar));
    this.#sumUp();
  }

  /** Start the grammars afresh with other stop tokens. @param {Iterable<number>} stopTokens */
  recompile(stopTokens) {
    for (const matched of this.#matched) {
      if (matched.source === undefined) continue;
      matched.constraint = this.#compile(matched.source, stopTokens, matched.behind);
    }
    this.#sumUp();
  }

  /**
   * The tokens that the static mask and the program's constraints all allow; [] is everything. Throws EmptyMaskError
   * when there are none, and whatever a constraint throws.
   */
  logitMask() {
    if (this.#fixed.length === 0 && this.#stepped.length === 0) return [];
    const together = brle.combine([this.#fixed, ...this.#stepped.map((stepped) => stepped.current())]);
    if (!brle.allowsAny(together, this.#model.info.vocabulary_size)) throw this.nothingAllowed();
    return together;
  }

  /** The error that names everything attached. */
  nothingAllowed() {
    const names = [...this.#stepped, ...this.#matched].map((entry) => entry.name);
    if (this.#fixed.length > 0) names.unshift('logitMask');
    const message = `constraints: together they allow no token: ${names.join(', ')}`;
    return new EmptyMaskError(message, { hint: 'loosen or remove one of them' });
  }

  /**
   * Advance the grammars by tokens the program chose; returns whether one of them has ended. Throws
   * GrammarRejectedError, and then advances none.
   * @param {number[]} tokens
   */
  feedMatchers(tokens) {
    let ended = false;
    for (const [done, { state }] of this.#matched.entries()) {
      try {
        ended = state.advance(tokens).terminated || ended;
      } catch (error) {
        if (error instanceof PieError)
          for (const fed of this.#matched.slice(0, done)) fed.state.rollback(tokens.length);
        throw error;
      }
    }
    return ended;
  }

  /** Pass accepted tokens to the program's constraints at their next step. @param {number[]} tokens */
  recordAccepted(tokens) {
    if (tokens.length > 0) for (const stepped of this.#stepped) stepped.recordAccepted(tokens);
  }

  /** Compute what every step reads; it changes only with the constraints. */
  #sumUp() {
    this.matchers = this.#matched.map((matched) => matched.state.id);
    this.looksBack = this.#stepped.length > 0;
    this.endTokens = new Set(this.#matched.flatMap((matched) => [...this.#ends(matched)]));
  }

  /** @param {unknown} item @param {Iterable<number>} stopTokens @param {string} behind */
  #entry(item, stopTokens, behind) {
    const name = kindOf(item);
    const source = item instanceof GrammarSchema ? item.grammar : item;
    if (source instanceof Grammar) {
      const begin = this.#hasHeader(source) ? '' : behind;
      return new Matched(name, this.#compile(source, stopTokens, begin), source, begin);
    }
    if (isSchema(item)) return built(name, item.buildConstraint(this.#model));
    if (isConstraint(item)) return built(name, item);
    const hint = 'give it buildConstraint(model) or step(accepted), or pass jsonSchema(), regex(), ebnf(), anyJson()';
    throw new InvalidTypeError(`constrain: ${name} is neither a Schema nor a Constraint`, { hint });
  }

  /** Whether the grammar includes the header of its message, as a grammar of calls does. @param {Grammar} grammar */
  #hasHeader(grammar) {
    return grammar.source.kind === 'tools' && this.#model.info.formats.channels;
  }

  /** @param {Grammar} source @param {Iterable<number>} stopTokens @param {string} behind */
  #compile(source, stopTokens, behind) {
    return GrammarConstraint.fromGrammar(source, this.#model, { stopTokens, behind });
  }

  /** @param {Matched} matched */
  #ends({ source, state }) {
    if (source?.source.kind === 'thought') return []; // it goes on behind any token
    return state.stopTokens.length > 0 ? state.stopTokens : this.#model.info.formats.stop_tokens;
  }
}

/** @param {unknown} item @returns {item is Schema} */
function isSchema(item) {
  return typeof (/** @type {any} */ (item)?.buildConstraint) === 'function';
}

/** @param {unknown} item @returns {item is Constraint} */
function isConstraint(item) {
  return typeof (/** @type {any} */ (item)?.step) === 'function';
}

/** @param {string} name @param {unknown} constraint */
function built(name, constraint) {
  if (constraint instanceof GrammarConstraint) return new Matched(name, constraint);
  if (isConstraint(constraint)) return new Stepped(name, constraint);
  const message = `constrain: ${name}.buildConstraint gave ${kindOf(constraint)}`;
  throw new InvalidTypeError(message, { hint: 'return a Constraint' });
}

/** Refuse the same constraint twice: it would receive each token twice. @param {(Matched | Stepped)[]} entries */
function checkApart(entries) {
  const seen = new Set();
  for (const { name, state } of entries) {
    if (seen.has(state)) {
      const hint = 'give it once; matcher.fork() copies a matcher';
      throw new InvalidArgumentError(`constrain: the same ${name} is given twice`, { hint });
    }
    seen.add(state);
  }
}
