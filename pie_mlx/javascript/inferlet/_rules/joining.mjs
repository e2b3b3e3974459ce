/** Two rules as one: what changes the logits of a text, and what ends it. */

import { InvalidArgumentError } from '../errors.mjs';
import { ARRAY_OPERATIONS } from './operations.mjs';
import { RuleUse } from './use.mjs';
import { sameFloats } from './weights.mjs';

/** @import { RuleGraph } from './use.mjs' */
/** @import { Node } from './values.mjs' */
/** @import { RuleArray } from './weights.mjs' */

/** Before the names of what the second rule reads and carries, which the first one may use as well. */
const PREFIX = 'until ';

/**
 * A rule that changes the logits as `use` does, and ends the text where `until` does; both see the row as it was. Throws
 * InvalidArgumentError for an `until` that ends nothing or changes logits, for two that see other candidates or break
 * repetitions at other tokens, and for a second one.
 * @param {RuleUse | undefined} use
 * @param {RuleUse} until
 */
export function withEnd(use, until) {
  const end = until.graph;
  if (end.until === null) throw refusal(end, 'it ends no text', 'answer a condition, such as row.entropy.greater(nats)');
  if (end.nodes[end.answer][0] !== 'logits' || end.others.length > 0)
    throw refusal(end, 'it changes the logits, or reads rows of others', 'give it to the sampler: sampler.ruled(...)');
  if (use === undefined) return until;
  const first = use.graph;
  if (first.until !== null)
    throw refusal(end, `${first.name} ends the text already`, 'join the two conditions in one rule');
  if (first.candidates !== end.candidates) {
    const what = `it sees ${end.candidates} candidates, ${first.name} ${first.candidates}`;
    throw refusal(end, what, 'let both see as many');
  }
  const readsRepetitions = end.nodes.some(([operation]) => operation === 'repeated');
  if (readsRepetitions && first.breakers.join() !== end.breakers.join())
    throw refusal(end, `its repetitions end at other tokens than those of ${first.name}`, 'let both break alike');
  const [nodes, arrays] = [[...first.nodes], [...first.arrays]];
  const known = new Map(nodes.map((node, place) => [keyOf(node), place]));
  /** @type {number[]} */
  const moved = [];
  for (const [operation, inputs, given, name, line] of end.nodes) {
    const value = ARRAY_OPERATIONS.includes(operation) ? placeOf(end.arrays[given], arrays) : given;
    /** @type {Node} */
    const own = [operation, inputs.map((place) => moved[place]), value, name && PREFIX + name, line];
    const place = known.get(keyOf(own)) ?? nodes.push(own) - 1;
    known.set(keyOf(own), place);
    moved.push(place);
  }
  const states = end.states.map(([name, place]) => /** @type {[string, number]} */ ([PREFIX + name, moved[place]]));
  const version = Math.max(first.version, end.version);
  const graph = { ...first, nodes, arrays, version, states: [...first.states, ...states], until: moved[end.until] };
  return new RuleUse(
    graph,
    { ...use.parameters, ...prefixed(until.parameters) },
    { ...use.state, ...prefixed(until.state) },
    { ...use.vectors, ...prefixed(until.vectors) },
  );
}

/** The place of an array of the second rule among those of both. @param {RuleArray} array @param {RuleArray[]} arrays */
function placeOf(array, arrays) {
  const known = arrays.findIndex(([width, data]) => width === array[0] && sameFloats(data, array[1]));
  return known >= 0 ? known : arrays.push(array) - 1;
}

/** @template T @param {Readonly<Record<string, T>>} values @returns {Record<string, T>} */
function prefixed(values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [PREFIX + name, value]));
}

/** What makes two operations the same one: all but the line. @param {Node} node */
function keyOf([operation, inputs, value, name]) {
  return [operation, inputs, Object.is(value, -0) ? '-0' : String(value), name].join('|');
}

/** @param {RuleGraph} graph @param {string} what @param {string} hint */
function refusal(graph, what, hint) {
  return new InvalidArgumentError(`until: rule ${graph.name}: ${what}`, { hint });
}
