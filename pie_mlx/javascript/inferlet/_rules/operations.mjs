/** The operations of rules. */

// Written by `python -m tools.javascript`. Change the Python code, then run it.

/**
 * What values hold.
 * @typedef {'float' | 'integer' | 'condition'} Kind
 *
 * What an operation takes and results in: with the shape of its inputs, or always a row, a number or a vector. `of` is
 * what its first input must be.
 * @typedef {{
 *   inputs: Kind[],
 *   result: Kind,
 *   shape: 'inputs' | 'row' | 'number' | 'vector',
 *   of: 'anything' | 'row' | 'vector' | 'row or vector',
 * }} Operation
 */

/** What a rule sees as the logit of a token that may not be drawn. */
export const FORBIDDEN = -1e+30;

/** The most operations of a rule. */
export const MOST_OPERATIONS = 256;

/** The most numbers in all arrays of a rule. */
export const MOST_WEIGHTS = 65536;

/** Operations that name an array, by its place. */
export const ARRAY_OPERATIONS = ['vector', 'matmul'];

/** Operations that the first version of the format does not have. */
export const VECTOR_OPERATIONS = ['hidden', 'other_hidden', 'vector_parameter', 'vector', 'matmul', 'element'];

/** @type {Readonly<Record<string, Operation>>} */
export const OPERATIONS = {
  constant: { inputs: [], result: 'float', shape: 'number', of: 'anything' },
  parameter: { inputs: [], result: 'float', shape: 'number', of: 'anything' },
  integer_parameter: { inputs: [], result: 'integer', shape: 'number', of: 'anything' },
  state: { inputs: [], result: 'float', shape: 'number', of: 'anything' },
  integer_state: { inputs: [], result: 'integer', shape: 'number', of: 'anything' },
  logits: { inputs: [], result: 'float', shape: 'row', of: 'anything' },
  token: { inputs: [], result: 'integer', shape: 'row', of: 'anything' },
  generated: { inputs: [], result: 'float', shape: 'row', of: 'anything' },
  seen: { inputs: [], result: 'condition', shape: 'row', of: 'anything' },
  repeated: { inputs: [], result: 'float', shape: 'row', of: 'anything' },
  log_total: { inputs: [], result: 'float', shape: 'number', of: 'anything' },
  other_logits: { inputs: [], result: 'float', shape: 'row', of: 'anything' },
  other_log_total: { inputs: [], result: 'float', shape: 'number', of: 'anything' },
  previous: { inputs: [], result: 'integer', shape: 'number', of: 'anything' },
  random: { inputs: [], result: 'float', shape: 'number', of: 'anything' },
  drawn: { inputs: [], result: 'integer', shape: 'number', of: 'anything' },
  negative: { inputs: ['float'], result: 'float', shape: 'inputs', of: 'anything' },
  absolute: { inputs: ['float'], result: 'float', shape: 'inputs', of: 'anything' },
  square_root: { inputs: ['float'], result: 'float', shape: 'inputs', of: 'anything' },
  exp: { inputs: ['float'], result: 'float', shape: 'inputs', of: 'anything' },
  log: { inputs: ['float'], result: 'float', shape: 'inputs', of: 'anything' },
  not: { inputs: ['condition'], result: 'condition', shape: 'inputs', of: 'anything' },
  add: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', of: 'anything' },
  subtract: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', of: 'anything' },
  multiply: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', of: 'anything' },
  divide: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', of: 'anything' },
  maximum: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', of: 'anything' },
  minimum: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', of: 'anything' },
  less: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', of: 'anything' },
  less_equal: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', of: 'anything' },
  greater: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', of: 'anything' },
  greater_equal: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', of: 'anything' },
  equal: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', of: 'anything' },
  same: { inputs: ['integer', 'integer'], result: 'condition', shape: 'inputs', of: 'anything' },
  and: { inputs: ['condition', 'condition'], result: 'condition', shape: 'inputs', of: 'anything' },
  or: { inputs: ['condition', 'condition'], result: 'condition', shape: 'inputs', of: 'anything' },
  where: { inputs: ['condition', 'float', 'float'], result: 'float', shape: 'inputs', of: 'anything' },
  sum: { inputs: ['float'], result: 'float', shape: 'number', of: 'row or vector' },
  max: { inputs: ['float'], result: 'float', shape: 'number', of: 'row or vector' },
  min: { inputs: ['float'], result: 'float', shape: 'number', of: 'row or vector' },
  mean: { inputs: ['float'], result: 'float', shape: 'number', of: 'row or vector' },
  log_sum_exp: { inputs: ['float'], result: 'float', shape: 'number', of: 'row or vector' },
  cumulative_sum: { inputs: ['float'], result: 'float', shape: 'row', of: 'row' },
  mass_threshold: { inputs: ['float', 'float', 'float'], result: 'float', shape: 'number', of: 'row' },
  at: { inputs: ['float', 'integer'], result: 'float', shape: 'number', of: 'row' },
  gather: { inputs: ['float', 'integer'], result: 'float', shape: 'row', of: 'row' },
  scatter: { inputs: ['float', 'integer', 'float'], result: 'float', shape: 'row', of: 'row' },
  hash: { inputs: ['integer', 'integer', 'integer'], result: 'float', shape: 'inputs', of: 'anything' },
  to_float: { inputs: ['integer'], result: 'float', shape: 'inputs', of: 'anything' },
  to_integer: { inputs: ['float'], result: 'integer', shape: 'inputs', of: 'anything' },
  hidden: { inputs: [], result: 'float', shape: 'vector', of: 'anything' },
  other_hidden: { inputs: [], result: 'float', shape: 'vector', of: 'anything' },
  vector_parameter: { inputs: [], result: 'float', shape: 'vector', of: 'anything' },
  vector: { inputs: [], result: 'float', shape: 'vector', of: 'anything' },
  matmul: { inputs: ['float'], result: 'float', shape: 'vector', of: 'vector' },
  element: { inputs: ['float', 'integer'], result: 'float', shape: 'number', of: 'vector' },
};
