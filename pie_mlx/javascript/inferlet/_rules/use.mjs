/** A rule with the parameters and the state of one row. */

import { encode } from '../../link/msgpack.mjs';
import { integers, kindOf } from '../_calls/checks.mjs';
import { InvalidTypeError } from '../errors.mjs';

/** @import { Node } from './values.mjs' */
/** @import { RuleArray } from './weights.mjs' */

const COUNTING = ['generated', 'seen', 'repeated'];

/**
 * The operations of a rule: `answer` is the place of the new logits, `states` have names and places, `until` is the
 * place of the condition that ends the text, `others` are the names of the contexts whose rows it reads. Repetitions end
 * at the tokens of `breakers`. `arrays` are those of the operations that name one; `version` 2 has vectors.
 * @typedef {object} RuleGraph
 * @property {Node[]} nodes
 * @property {number} answer
 * @property {[string, number][]} states
 * @property {number} candidates
 * @property {number | null} until
 * @property {string} name
 * @property {string[]} others
 * @property {number[]} breakers
 * @property {RuleArray[]} arrays
 * @property {number} version
 */

/** What `sampler.ruled` takes, made by calling a rule. `code` is its graph in msgpack. */
export class RuleUse {
  #graph;

  /**
   * @param {RuleGraph} graph
   * @param {Readonly<Record<string, number>>} parameters
   * @param {Readonly<Record<string, number>>} state
   * @param {Readonly<Record<string, Uint8Array>>} [vectors]
   * @param {Uint8Array} [code]
   * @internal
   */
  constructor(graph, parameters, state, vectors = {}, code = new Uint8Array(encode(graph))) {
    this.#graph = graph;
    this.code = code;
    this.parameters = parameters;
    this.state = state;
    this.vectors = vectors;
  }

  /** Whether it reads which tokens the text has. @internal */
  get countsTokens() {
    return this.#graph.nodes.some(([operation]) => COUNTING.includes(operation));
  }

  /** Its operations. @internal */
  get graph() {
    return this.#graph;
  }

  /** The names of the other contexts whose rows it reads. */
  get others() {
    return this.#graph.others;
  }

  /** Whether the next draw depends on what this one leaves. @internal */
  get carriesStates() {
    return this.#graph.states.length > 0;
  }

  /**
   * With tokens at which repetitions end, such as line breaks, at most 256: `row.repeated` is 0 for them, and finds no
   * repetition that has one. Throws InvalidTypeError for what is no array of whole numbers.
   * @param {Iterable<number>} tokens
   */
  brokenAt(tokens) {
    const breakers = [...new Set(integers(tokens, 'breakers'))].toSorted((one, other) => one - other);
    return new RuleUse({ ...this.#graph, breakers }, this.parameters, this.state, this.vectors);
  }

  /**
   * For the next token: with the values of the states, in their order.
   * @param {readonly number[]} states
   */
  after(states) {
    const state = Object.fromEntries(this.#graph.states.map(([name], place) => [name, states[place]]));
    return new RuleUse(this.#graph, this.parameters, state, this.vectors, this.code);
  }
}

/** @param {unknown} use @returns {RuleUse} */
export function checkedUse(use) {
  if (use instanceof RuleUse) return use;
  const hint = 'call the rule with its parameters: sampler.ruled(rules.typical({ mass: 0.9 }))';
  throw new InvalidTypeError(`sampler: rule: got ${kindOf(use)}`, { hint });
}
