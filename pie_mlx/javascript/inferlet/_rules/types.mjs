/** What the operations of a rule result in. */

import { OPERATIONS } from './operations.mjs';

/** @import { Kind, Operation } from './operations.mjs' */
/** @import { RuleArray } from './weights.mjs' */

/**
 * What an operation results in: a number for each row of the batch, a row of the vocabulary, or a vector with a width.
 * @typedef {{ kind: Kind, isRow: boolean, width?: number }} ValueType
 */

/** @typedef {(message: string, hint: string) => Error} Refusal */

/** The width of a vector that is as wide as the model's hidden states, whatever that is. */
const MODEL_WIDTH = 0;

/** The types of a rule's operations, one after the other. */
export class RuleTypes {
  /** @type {ValueType[]} */
  #types = [];
  /** That of the model's hidden states, as far as they meet vectors of a known width. */
  #width = MODEL_WIDTH;

  /**
   * What an operation on earlier ones results in. Throws what `refusal` makes for inputs of other types or widths.
   * @param {string} operation
   * @param {number[]} places
   * @param {RuleArray | undefined} array
   * @param {Refusal} refusal
   */
  add(operation, places, array, refusal) {
    const inputs = places.map((place) => this.#types[place]);
    const { result, shape } = checked(operation, inputs, refusal);
    let [width, isRow] = [this.#commonWidth(operation, inputs, array, refusal), shape === 'row'];
    if (shape === 'vector') width = array && inputs.length > 0 ? array[1].length / (4 * array[0]) : (width ?? MODEL_WIDTH);
    else if (shape === 'inputs') isRow = inputs.some((each) => each.isRow);
    else width = undefined;
    const type = width === undefined ? { kind: result, isRow } : { kind: result, isRow, width };
    this.#types.push(type);
    return type;
  }

  /**
   * The width that all vectors of an operation have, undefined if there is none.
   * @param {string} operation
   * @param {ValueType[]} inputs
   * @param {RuleArray | undefined} array
   * @param {Refusal} refusal
   */
  #commonWidth(operation, inputs, array, refusal) {
    const widths = [...inputs.map((each) => each.width), array?.[0]].filter((width) => width !== undefined);
    if (widths.length === 0) return undefined;
    if (inputs.some((each) => each.isRow))
      throw refusal(
        `${operation} of ${inputs.map(typeText).join(' and ')}`,
        'make one number of the vector first: dot, sum, max',
      );
    const ofModel = widths.includes(MODEL_WIDTH);
    const all = ofModel ? [...widths, this.#width] : widths;
    const known = [...new Set(all.filter((width) => width !== MODEL_WIDTH))].toSorted((one, other) => one - other);
    if (known.length > 1)
      throw refusal(`${operation}: vectors of ${known.join(' and ')} numbers`, 'they must be equally long');
    if (ofModel && known.length > 0) [this.#width] = known;
    return known[0] ?? MODEL_WIDTH;
  }
}

/** @param {ValueType} type */
export function typeText({ kind, isRow, width }) {
  if (width !== undefined) return `a vector of ${width || 'as many'} ${kind}s${width ? '' : ' as the model is wide'}`;
  return isRow ? `a row of ${kind}s` : `one ${kind}`;
}

/** @param {string} operation @param {ValueType[]} inputs @param {Refusal} refusal @returns {Operation} */
function checked(operation, inputs, refusal) {
  const found = OPERATIONS[operation];
  const kinds = inputs.map((each) => each.kind);
  if (`${kinds}` !== `${found.inputs}`)
    throw refusal(
      `${operation}: it takes ${found.inputs.join(' and ')}, got ${kinds.join(' and ')}`,
      conversion(found.inputs, kinds),
    );
  if (found.of !== 'anything' && !isOneOf(found.of, inputs[0]))
    throw refusal(
      `${operation} of ${typeText(inputs[0])}`,
      `it needs a ${found.of}, such as the ${found.of === 'vector' ? 'hidden state' : 'logits'}`,
    );
  if (['at', 'element'].includes(operation) && (inputs[1].isRow || inputs[1].width !== undefined))
    throw refusal(`${operation}: its place is ${typeText(inputs[1])}`, 'give one integer');
  return found;
}

/** @param {string} wanted @param {ValueType} found */
function isOneOf(wanted, { isRow, width }) {
  return (isRow && wanted.includes('row')) || (width !== undefined && wanted.includes('vector'));
}

/** @param {Kind[]} wanted @param {Kind[]} got */
function conversion(wanted, got) {
  const wrong = wanted.map((kind, place) => [kind, got[place]]).filter(([kind, found]) => kind !== found);
  if (wrong.some(([, found]) => found === 'condition')) return 'choose between two values with where(condition, a, b)';
  if (wrong.some(([kind]) => kind === 'condition')) return 'compare two values, such as x.greater(y)';
  return 'convert it with toFloat or toInteger';
}
