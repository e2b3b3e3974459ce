/** Symbolic values: arithmetic on them writes the operations of a rule down instead of computing anything. */

import { kindOf } from '../_calls/checks.mjs';
import { InvalidArgumentError, InvalidTypeError } from '../errors.mjs';
import { MOST_OPERATIONS, MOST_WEIGHTS } from './operations.mjs';
import { RuleTypes, typeText } from './types.mjs';
import { floats, sameFloats } from './weights.mjs';

/** @import { ValueType } from './types.mjs' */
/** @import { RuleArray } from './weights.mjs' */

/**
 * What a rule computes with: a value, or a number that is the same for all rows.
 * @typedef {Value | number} Operand
 */

/**
 * Operation, places of its inputs, value of a constant or place of an array, name of a parameter or state, line of the
 * program.
 * @typedef {[string, number[], number, string, number]} Node
 */

const HERE = new URL('.', import.meta.url).href;
const PLACE = /(?:file:|\/).*?:(\d+):\d+\)?$/;

/** The operations of a rule, in order; an equal one is written down once. */
export class Tracer {
  /** @type {Node[]} */
  nodes = [];
  /** @type {RuleArray[]} */
  arrays = [];
  #types = new RuleTypes();
  /** @type {Map<string, Value>} */
  #known = new Map();

  /**
   * The result of an operation. Throws InvalidArgumentError for inputs of other types, with the line.
   * @param {string} operation
   * @param {Value[]} inputs
   * @param {{ value?: number, name?: string, array?: RuleArray }} [more]
   */
  add(operation, inputs = [], { array, value = array === undefined ? 0 : this.#placeOf(array), name = '' } = {}) {
    const places = inputs.map((each) => each.place);
    const key = `${operation} ${places} ${Object.is(value, -0) ? '-0' : value} ${name}`;
    const found = this.#known.get(key);
    if (found !== undefined) return found;
    if (this.nodes.length === MOST_OPERATIONS)
      throw refused(`more than ${MOST_OPERATIONS} operations`, 'loops write their body down each time: simplify it');
    const line = programLine();
    const type = this.#types.add(operation, places, array, (message, hint) => {
      return new InvalidArgumentError(`line ${line}: ${message}`, { hint });
    });
    const made = new Value(this, this.nodes.length, type);
    this.nodes.push([operation, places, value, name, line]);
    this.#known.set(key, made);
    return made;
  }

  /**
   * A constant vector. Throws InvalidTypeError for what are no finite numbers, and for too many, with the line.
   * @param {Iterable<number>} values
   */
  vector(values) {
    const data = weights(values);
    return this.add('vector', [], { array: [data.length / 4, data] });
  }

  /** The place of an array among all, an equal one only once. @param {RuleArray} array */
  #placeOf(array) {
    const known = this.arrays.findIndex((each) => each[0] === array[0] && sameFloats(each[1], array[1]));
    if (known >= 0) return known;
    const count = this.arrays.push(array);
    if (this.arrays.reduce((sum, [, data]) => sum + data.length / 4, 0) > MOST_WEIGHTS)
      throw refused(`more than ${MOST_WEIGHTS} numbers in all arrays`, 'use fewer outputs');
    return count - 1;
  }

  /** @param {Operand} value */
  floating(value) {
    if (value instanceof Value) return value;
    if (typeof value !== 'number')
      throw refused(
        `${kindOf(value)} in a rule`,
        Array.isArray(value) ? 'write row.vector(...)' : 'pass it as a parameter, or write a number',
      );
    if (Number.isNaN(value)) throw refused('NaN in a rule', 'write a number');
    return this.add('constant', [], { value });
  }

  /**
   * As an integer of the rule. Throws InvalidTypeError for a number with a fraction.
   * @param {Operand} value
   */
  integer(value) {
    if (value instanceof Value) return value;
    if (!Number.isInteger(value)) throw refused(`${value} where a whole number is needed`, 'pass a whole number');
    return this.add('to_integer', [this.add('constant', [], { value })]);
  }
}

/** A number for each row of the batch, a row of them for all tokens of the vocabulary, or a vector. */
export class Value {
  /** @type {Tracer} @internal */
  tracer;
  /** @type {number} @internal */
  place;
  /** @type {ValueType} @internal */
  type;

  /** @param {Tracer} tracer @param {number} place @param {ValueType} type @internal */
  constructor(tracer, place, type) {
    this.tracer = tracer;
    this.place = place;
    this.type = type;
  }

  /** Its negative. */
  negate() {
    return this.#one('negative');
  }

  /** Its absolute value. */
  abs() {
    return this.#one('absolute');
  }

  /** Where a condition does not hold. */
  not() {
    return this.#one('not');
  }

  /** @param {Operand} other */
  add(other) {
    return joined('add', this, other);
  }

  /** @param {Operand} other */
  subtract(other) {
    return joined('subtract', this, other);
  }

  /** @param {Operand} other */
  multiply(other) {
    return joined('multiply', this, other);
  }

  /** @param {Operand} other */
  divide(other) {
    return joined('divide', this, other);
  }

  /** @param {Operand} other */
  less(other) {
    return joined('less', this, other);
  }

  /** @param {Operand} other */
  lessEqual(other) {
    return joined('less_equal', this, other);
  }

  /** @param {Operand} other */
  greater(other) {
    return joined('greater', this, other);
  }

  /** @param {Operand} other */
  greaterEqual(other) {
    return joined('greater_equal', this, other);
  }

  /** @param {Operand} other */
  equals(other) {
    if (this.type.kind === 'integer') return this.tracer.add('same', [this, this.tracer.integer(other)]);
    return joined('equal', this, other);
  }

  /** Where both conditions hold. @param {Value} other */
  and(other) {
    return joined('and', this, other);
  }

  /** Where one of the conditions holds. @param {Value} other */
  or(other) {
    return joined('or', this, other);
  }

  /** e to the power of it. */
  exp() {
    return this.#one('exp');
  }

  /** The natural logarithm. */
  log() {
    return this.#one('log');
  }

  /** The square root. */
  sqrt() {
    return this.#one('square_root');
  }

  /** The sum of a row or a vector, one number. */
  sum() {
    return this.#one('sum');
  }

  /** The largest value of a row. */
  max() {
    return this.#one('max');
  }

  /** The smallest value of a row. */
  min() {
    return this.#one('min');
  }

  /** The mean of a row. */
  mean() {
    return this.#one('mean');
  }

  /** The logarithm of the sum of the powers of e. */
  logSumExp() {
    return this.#one('log_sum_exp');
  }

  /** The sum up to each token, itself included: by token id, or by falling logits where there are candidates. */
  cumulativeSum() {
    return this.#one('cumulative_sum');
  }

  /**
   * A row's value at one token; at a row of tokens, a row; a vector's at a place, from 0. Ids and places that it does not
   * have give its smallest value.
   * @param {Operand} token
   */
  at(token) {
    const ids = this.tracer.integer(token);
    return this.tracer.add(this.type.width !== undefined ? 'element' : ids.type.isRow ? 'gather' : 'at', [this, ids]);
  }

  /**
   * The sum of the products of two vectors, one number: of values, or of as many plain numbers.
   * @param {Value | Iterable<number>} other
   */
  dot(other) {
    return this.multiply(other instanceof Value ? other : this.tracer.vector(other)).sum();
  }

  /**
   * The product of a constant matrix with a vector: a vector with a number for each of the matrix's rows, all of which are
   * as long as this one. All constants of a rule have at most 65,536 numbers.
   * @param {Iterable<Iterable<number>>} matrix
   */
  matmul(matrix) {
    const rows = [...matrix].map(weights);
    if (new Set(rows.map((row) => row.length)).size !== 1)
      throw refused('a matrix whose rows are not equally long', 'give an array of weights for each output');
    return this.tracer.add('matmul', [this], { array: [rows[0].length / 4, Uint8Array.from(rows.flatMap((row) => [...row]))] });
  }

  /** Integers as floats. */
  toFloat() {
    return this.#one('to_float');
  }

  /** Floats without their fractions. */
  toInteger() {
    return this.#one('to_integer');
  }

  toString() {
    return `<${typeText(this.type)} of a rule>`;
  }

  /** @internal */
  [Symbol.toPrimitive](/** @type {string} */ hint) {
    if (hint === 'string') return this.toString();
    throw refused('a value is no number yet', 'compute with its methods: a.add(b), a.less(b), where(c, a, b)');
  }

  /** @internal */
  [Symbol.iterator]() {
    throw refused('a value cannot be looped over', 'a rule sees all tokens at once: use sum, max, where');
  }

  /** @param {string} operation */
  #one(operation) {
    return this.tracer.add(operation, [this]);
  }
}

/**
 * `yes` where the condition holds, `no` elsewhere.
 * @param {Value} condition
 * @param {Operand} yes
 * @param {Operand} no
 */
export function where(condition, yes, no) {
  if (!(condition instanceof Value))
    throw refused(`where(${kindOf(condition)}, ...)`, 'compare two values first, such as x.greater(y)');
  const { tracer } = condition;
  return tracer.add('where', [condition, tracer.floating(yes), tracer.floating(no)]);
}

/**
 * The larger of two values, token by token.
 * @param {Operand} first
 * @param {Operand} second
 */
export function maximum(first, second) {
  return joined('maximum', first, second);
}

/**
 * The smaller of two values, token by token.
 * @param {Operand} first
 * @param {Operand} second
 */
export function minimum(first, second) {
  return joined('minimum', first, second);
}

/**
 * The smallest value of `order` such that the tokens up to it have at least the share `mass` of `weight`.
 * @param {Value} order
 * @param {Value} weight
 * @param {Operand} mass
 */
export function massThreshold(order, weight, mass) {
  return order.tracer.add('mass_threshold', [order, weight, order.tracer.floating(mass)]);
}

/**
 * A row with, for each token, the largest of `values` that are sent to it, and `otherwise` where none is. `tokens` has the
 * id that each is sent to; ids that the row does not have go nowhere.
 * @param {Value} values
 * @param {Operand} tokens
 * @param {Operand} otherwise
 */
export function scatter(values, tokens, otherwise) {
  const { tracer } = values;
  return tracer.add('scatter', [values, tracer.integer(tokens), tracer.floating(otherwise)]);
}

/**
 * A number of [0, 1) for three integers, the same each time and as if drawn at random.
 * @param {Value} first
 * @param {Operand} second
 * @param {Operand} third
 */
export function hashUniform(first, second, third) {
  const { tracer } = first;
  return tracer.add('hash', [first, tracer.integer(second), tracer.integer(third)]);
}

/** @param {string} operation @param {Operand} first @param {Operand} second */
function joined(operation, first, second) {
  const value = first instanceof Value ? first : second;
  if (!(value instanceof Value)) throw refused(`${operation} of two plain numbers`, 'compute them in plain JavaScript');
  return value.tracer.add(operation, [value.tracer.floating(first), value.tracer.floating(second)]);
}

/** @param {Iterable<number>} values */
function weights(values) {
  try {
    return floats(values);
  } catch (error) {
    throw refused(`a constant vector: ${error instanceof Error ? error.message : error}`, 'give an array of finite numbers');
  }
}

/** @param {string} what @param {string} hint */
function refused(what, hint) {
  return new InvalidTypeError(`line ${programLine()}: ${what}`, { hint });
}

/** The line of the program's function, outside of the SDK's own files; 0 if it is unknown. */
function programLine() {
  const frames = String(new Error().stack).split('\n').slice(1); // a program may replace what makes traces
  const own = frames.find((frame) => !frame.includes(HERE));
  return Number(PLACE.exec(own ?? '')?.[1] ?? 0);
}
