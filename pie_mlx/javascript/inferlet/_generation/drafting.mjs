/** The source of drafts for a Generator: none, the engine, or the program. */

import { integers, kindOf, tokenList } from '../_calls/checks.mjs';
import { InvalidArgumentError, InvalidTypeError, PieError, SpeculationError } from '../errors.mjs';

/** @import { SentSpeculation } from '../_calls/types.mjs' */

/** Stands for no limit of drafts, or of tokens in a step: more than there can be. */
export const NO_LIMIT = 1 << 20;

/**
 * Guessed tokens and their absolute positions; the third, if there is one, makes a tree of them: for each draft the
 * index of the earlier draft it follows, -1 for none.
 * @typedef {readonly [tokens: Iterable<number>, positions: Iterable<number>, parents?: Iterable<number>]} Drafts
 */

/**
 * Guesses the next tokens so that several can be verified in one pass.
 *
 * `draft` gives guessed tokens and their absolute positions; two empty arrays for a plain step. The first draft's
 * position is the number of tokens in the context, buffer included; each further one comes next. `accept` gets the
 * tokens that the pass produced, before stops and limits cut them; `rollback` how many of the drafted tokens were
 * wrong, or were not verified. `reset` is called once when attached: forget everything.
 * @typedef {object} Speculator
 * @property {() => Drafts} draft
 * @property {(tokens: Uint32Array) => void} accept
 * @property {(n: number) => void} rollback
 * @property {() => void} reset
 */

/** Every step is plain. */
export class NoDrafting {
  /** Whether every step needs the program. */
  get needsProgram() {
    return false;
  }

  /** Called when the prompt is in the buffer. Throws SpeculationError. */
  attach() {}

  /** Throws SpeculationError for a failure since the last draft. */
  check() {}

  /**
   * At most `limit` drafts from `position` on, null for a plain step. Throws SpeculationError.
   * @param {number} _position
   * @param {number} _limit
   * @param {Iterable<number>} _stopTokens
   * @returns {SentSpeculation | null}
   */
  draft(_position, _limit, _stopTokens) {
    return null;
  }

  /** Report the produced tokens; the first was not a draft. @param {number[]} _tokens */
  recordProduced(_tokens) {}
}

/**
 * Who drafts in the engine: text that repeats, the model's own draft head, a smaller model, a grammar, or the one that
 * has earned most.
 * @typedef {'auto' | 'ngram' | 'mtp' | 'draft_model' | 'grammar'} DraftSourceName
 */

/** @type {readonly DraftSourceName[]} */
const SOURCES = ['auto', 'ngram', 'mtp', 'draft_model', 'grammar'];

/** The engine drafts. */
export class SystemDrafting extends NoDrafting {
  #source;

  /** @param {DraftSourceName} source */
  constructor(source) {
    super();
    if (!SOURCES.includes(source)) {
      const message = `speculation: ${JSON.stringify(source)} is none of ${SOURCES.join(', ')}`;
      throw new InvalidArgumentError(message, { hint: 'leave it at auto' });
    }
    this.#source = source;
  }

  /**
   * @override
   * @param {number} _position
   * @param {number} limit
   * @param {Iterable<number>} stopTokens
   * @returns {SentSpeculation}
   */
  draft(_position, limit, stopTokens) {
    return { limit, stop_tokens: [...stopTokens], source: this.#source };
  }
}

/** A Speculator drafts. When it fails after a pass, `check` throws before the next one, so the pass is not lost. */
export class ProgramDrafting extends NoDrafting {
  #speculator;
  #vocabularySize;
  #drafted = 0;
  /** @type {SpeculationError | undefined} */
  #failure;

  /** @param {Speculator} speculator @param {number} vocabularySize */
  constructor(speculator, vocabularySize) {
    super();
    const methods = /** @type {const} */ (['draft', 'accept', 'rollback', 'reset']);
    if (methods.some((name) => typeof speculator?.[name] !== 'function')) {
      const hint = 'pass an object with draft(), accept(tokens), rollback(n) and reset()';
      throw new InvalidTypeError(`speculator: ${kindOf(speculator)} is not a Speculator`, { hint });
    }
    this.#speculator = speculator;
    this.#vocabularySize = vocabularySize;
  }

  /** @override */
  get needsProgram() {
    return true;
  }

  /** @override */
  attach() {
    named('reset', () => this.#speculator.reset());
  }

  /** @override */
  check() {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * @override
   * @param {number} position
   * @param {number} limit
   * @param {Iterable<number>} stopTokens
   * @returns {SentSpeculation | null}
   */
  draft(position, limit, stopTokens) {
    this.#drafted = 0;
    const drafts = named('draft', () => this.#speculator.draft());
    const { tokens, parents } = checked(drafts, position, this.#vocabularySize);
    this.#drafted = tokens.length;
    return tokens.length === 0 ? null : { limit, drafts: tokens, parents, stop_tokens: [...stopTokens] };
  }

  /** @override @param {number[]} tokens */
  recordProduced(tokens) {
    const wrong = this.#drafted - tokens.length + 1;
    this.#drafted = 0;
    try {
      named('accept', () => this.#speculator.accept(Uint32Array.from(tokens)));
      if (wrong > 0) named('rollback', () => this.#speculator.rollback(wrong));
    } catch (error) {
      this.#failure = /** @type {SpeculationError} */ (error);
    }
  }
}

/**
 * What drafts for a Generator. Throws InvalidArgumentError for two of them, SpeculationError, InvalidTypeError.
 * @param {{ speculator?: Speculator, systemSpeculation?: boolean, speculation?: DraftSourceName }} options
 * @param {number} vocabularySize
 */
export function draftingOf({ speculator, systemSpeculation = false, speculation }, vocabularySize) {
  const source = speculation ?? (systemSpeculation ? 'auto' : null);
  if (speculator === undefined || speculator === null)
    return source === null ? new NoDrafting() : new SystemDrafting(source);
  if (source === null) return new ProgramDrafting(speculator, vocabularySize);
  const message = `speculator and ${speculation ? 'speculation' : 'systemSpeculation'}: they exclude each other`;
  throw new InvalidArgumentError(message, { hint: 'pass one of them' });
}

/**
 * Anything that the program's own code throws becomes a SpeculationError.
 * @template T
 * @param {string} method
 * @param {() => T} work
 * @returns {T}
 */
function named(method, work) {
  try {
    return work();
  } catch (error) {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const made = new SpeculationError(`speculator: ${method} raised ${why}`, { hint: 'correct the speculator' });
    throw Object.assign(made, { cause: error });
  }
}

/**
 * The tokens and parents of a speculator's drafts.
 * @param {Drafts} drafts
 * @param {number} position
 * @param {number} vocabularySize
 */
function checked(drafts, position, vocabularySize) {
  if (!Array.isArray(drafts) || (drafts.length !== 2 && drafts.length !== 3)) {
    const hint = 'return [tokens, positions] or [tokens, positions, parents]';
    throw new SpeculationError('speculator: draft() gave no pair of arrays', { hint });
  }
  const { tokens, places, parents } = read(/** @type {any} */ (drafts), vocabularySize);
  const expected = expectedPlaces(tokens.length, position, parents);
  if (places.length !== expected.length || places.some((place, at) => place !== expected[at])) {
    const shown = `${tokens.length} drafts at positions [${places.slice(0, 8).join(', ')}]`;
    const hint = 'give one position for each draft: the next one after the token it follows';
    throw new SpeculationError(`speculator: ${shown}, the next position is ${position}`, { hint });
  }
  return { tokens, parents };
}

/** @param {Iterable<number>[]} drafts @param {number} vocabularySize */
function read([tokens, positions, parents], vocabularySize) {
  try {
    return {
      tokens: tokenList(tokens, vocabularySize),
      places: integers(positions, 'positions'),
      parents: parents === undefined ? null : integers(parents, 'parents'),
    };
  } catch (error) {
    if (!(error instanceof PieError)) throw error;
    throw new SpeculationError(`speculator: ${error.message}`, { hint: error.hint });
  }
}

/**
 * The positions drafts must have. Throws SpeculationError for parents that are not earlier drafts.
 * @param {number} count
 * @param {number} position
 * @param {number[] | null} parents
 */
function expectedPlaces(count, position, parents) {
  if (parents === null) return Array.from({ length: count }, (_, place) => position + place);
  if (parents.length !== count || parents.some((parent, place) => parent < -1 || parent >= place)) {
    const message = `speculator: ${count} drafts follow [${parents.slice(0, 8).join(', ')}]`;
    throw new SpeculationError(message, { hint: 'name an earlier draft for each, or -1' });
  }
  /** @type {number[]} */
  const places = [];
  for (const parent of parents) places.push(parent < 0 ? position : places[parent] + 1);
  return places;
}
