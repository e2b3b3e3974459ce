/** `rule`: a function, traced once into operations that the engine runs. */

import { kindOf } from '../_calls/checks.mjs';
import { InvalidArgumentError, InvalidTypeError } from '../errors.mjs';
import { OtherRow } from './other_row.mjs';
import { Row } from './row.mjs';
import { VECTOR_OPERATIONS } from './operations.mjs';
import { typeText } from './types.mjs';
import { RuleUse } from './use.mjs';
import { Tracer, Value } from './values.mjs';
import { floats } from './weights.mjs';

/** @import { RuleGraph } from './use.mjs' */
/** @import { Node, Operand } from './values.mjs' */

/** A parameter that is a whole number: a token, or a key. */
export class Whole {
  /** @param {number} [value] */
  constructor(value) {
    this.value = value;
  }
}

/** A parameter that is as many numbers as a hidden state of the model has. */
export class Vector {
  /** Types tell it from others by this. */
  width = 'model';
}

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
export function whole(value) {
  return new Whole(value);
}

/** A parameter of a rule that is as many numbers as a hidden state of the model has. */
export function vector() {
  return new Vector();
}

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
export function rule(traced, { parameters, candidates = 0, others = [] } = {}) {
  const own = Object.entries(parameters ?? {});
  /** @type {RuleGraph | undefined} */
  let graph; // not traced here: programs that import the library use little of it
  return (given = {}) => use((graph ??= graphOf(traced, own, candidates, others)), own, given);
}

/** @param {string} rule @param {string} name @param {unknown} value */
function checkDefault(rule, name, value) {
  const found = value instanceof Whole ? value.value : value;
  if (found !== undefined && typeof found !== 'number' && !(found instanceof Vector))
    throw new InvalidTypeError(`rule ${rule}: ${name} defaults to ${kindOf(found)}`, { hint: 'use a number' });
}

/** @param {RuleGraph} graph @param {[string, Parameters[string]][]} own @param {Record<string, any>} given */
function use({ name: rule, ...graph }, own, given) {
  const known = own.map(([name]) => name).toSorted();
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`rule ${rule}: no parameter ${unknown.toSorted().join(', ')}`, {
      hint: `its parameters are ${known.join(', ')}`,
    });
  /** @type {[string, number][]} */
  const values = [];
  /** @type {[string, Uint8Array][]} */
  const vectors = [];
  for (const [name, one] of own) {
    if (one instanceof Vector) vectors.push([name, numbers(rule, name, given[name])]);
    else values.push([name, number(rule, name, given[name] ?? (one instanceof Whole ? one.value : one))]);
  }
  const states = graph.states.map(([name]) => name);
  const read = graph.nodes.map(([, , , name]) => name);
  return new RuleUse(
    { name: rule, ...graph },
    Object.fromEntries(values.filter(([name]) => read.includes(name) && !states.includes(name))),
    Object.fromEntries(values.filter(([name]) => states.includes(name))),
    Object.fromEntries(vectors.filter(([name]) => read.includes(name))),
  );
}

/** @param {string} rule @param {string} name @param {Iterable<number> | undefined} values */
function numbers(rule, name, values) {
  if (values === undefined) throw missing(rule, name);
  try {
    return floats(values);
  } catch (error) {
    const what = error instanceof Error ? error.message : error;
    throw new InvalidTypeError(`rule ${rule}: ${name}: ${what}`, { hint: 'pass an array of finite numbers' });
  }
}

/** @param {string} rule @param {string} name */
function missing(rule, name) {
  return new InvalidArgumentError(`rule ${rule}: parameter ${name} is missing`, { hint: `${rule}({ ${name}: ... })` });
}

/** @param {string} rule @param {string} name @param {unknown} value */
function number(rule, name, value) {
  if (value === undefined) throw missing(rule, name);
  if (typeof value !== 'number')
    throw new InvalidTypeError(`rule ${rule}: ${name}: got ${kindOf(value)}`, { hint: 'pass a number' });
  return value;
}

/**
 * @param {Function} traced
 * @param {[string, Parameters[string]][]} own
 * @param {number} candidates
 * @param {readonly string[]} others
 * @returns {RuleGraph}
 */
function graphOf(traced, own, candidates, others) {
  const [tracer, name] = [new Tracer(), traced.name || 'rule'];
  for (const [parameter, value] of own) checkDefault(name, parameter, value);
  const values = own.map(([parameter, value]) => {
    return [parameter, tracer.add(reading(value), [], { name: parameter })];
  });
  const row = new Row(tracer);
  const rows = others.map((other) => [other, new OtherRow(tracer, other)]);
  const answer = traced(row, Object.fromEntries(values), Object.fromEntries(rows));
  const given = answer instanceof Value ? { [isEnd(answer) ? 'until' : 'logits']: answer } : (answer ?? {});
  const { states = {}, until, logits = until === undefined ? undefined : row.logits } = given;
  if (!(logits instanceof Value) || logits.type.kind !== 'float' || !logits.type.isRow)
    throw new InvalidTypeError(`rule ${name}: it answers ${logits instanceof Value ? logits : kindOf(answer)}`, {
      hint: 'answer the new logits: a row of floats, such as row.logits.divide(2)',
    });
  const unknown = Object.keys(states).filter((state) => !own.some(([parameter]) => parameter === state));
  if (unknown.length > 0)
    throw new InvalidArgumentError(
      `rule ${name}: it answers states that are no parameters: ${unknown.toSorted().join(', ')}`,
      { hint: 'name them in the parameters' },
    );
  return {
    name,
    answer: logits.place,
    states: Object.entries(states).map(([state, value]) => [state, carried(tracer, name, state, value).place]),
    candidates,
    until: until?.place ?? null,
    nodes: tracer.nodes.map((node) => stateOf(node, states)),
    others: [...others],
    breakers: [],
    arrays: tracer.arrays,
    version: tracer.nodes.some(([operation]) => VECTOR_OPERATIONS.includes(operation)) ? 2 : 1,
  };
}

/** The operation that reads a parameter. @param {Parameters[string]} value */
function reading(value) {
  if (value instanceof Vector) return 'vector_parameter';
  return value instanceof Whole ? 'integer_parameter' : 'parameter';
}

/** Whether a rule that answers this alone ends texts. @param {Value} value */
function isEnd({ type: { kind, isRow, width } }) {
  return kind === 'condition' && !isRow && width === undefined;
}

/** @param {Tracer} tracer @param {string} rule @param {string} state @param {Operand} value */
function carried(tracer, rule, state, value) {
  const found = tracer.floating(value);
  if (found.type.isRow || found.type.width !== undefined || found.type.kind === 'condition')
    throw new InvalidTypeError(`rule ${rule}: state ${state} is ${typeText(found.type)}`, {
      hint: 'carry a number: sum it, or take it `at` a token',
    });
  return found;
}

/** A parameter that is carried is a state. @param {Node} node @param {object} states @returns {Node} */
function stateOf([operation, inputs, value, name, line], states) {
  if (!name || !Object.hasOwn(states, name)) return [operation, inputs, value, name, line];
  return [operation === 'integer_parameter' ? 'integer_state' : 'state', inputs, value, name, line];
}
