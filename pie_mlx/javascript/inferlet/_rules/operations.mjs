/** The operations of rules. */

// Written by `python -m tools.javascript`. Change the Python code, then run it.

/**
 * What values hold.
 * @typedef {'float' | 'integer' | 'condition'} Kind
 *
 * What an operation takes and results in: with the shape of its inputs, or always a row or a number. `ofRow`: its first
 * input must be a row.
 * @typedef {{ inputs: Kind[], result: Kind, shape: 'inputs' | 'row' | 'number', ofRow: boolean }} Operation
 */

/** What a rule sees as the logit of a token that may not be drawn. */
export const FORBIDDEN = -1e+30;

/** @type {Readonly<Record<string, Operation>>} */
export const OPERATIONS = {
  constant: { inputs: [], result: 'float', shape: 'number', ofRow: false },
  parameter: { inputs: [], result: 'float', shape: 'number', ofRow: false },
  integer_parameter: { inputs: [], result: 'integer', shape: 'number', ofRow: false },
  state: { inputs: [], result: 'float', shape: 'number', ofRow: false },
  integer_state: { inputs: [], result: 'integer', shape: 'number', ofRow: false },
  logits: { inputs: [], result: 'float', shape: 'row', ofRow: false },
  token: { inputs: [], result: 'integer', shape: 'row', ofRow: false },
  generated: { inputs: [], result: 'float', shape: 'row', ofRow: false },
  seen: { inputs: [], result: 'condition', shape: 'row', ofRow: false },
  repeated: { inputs: [], result: 'float', shape: 'row', ofRow: false },
  log_total: { inputs: [], result: 'float', shape: 'number', ofRow: false },
  other_logits: { inputs: [], result: 'float', shape: 'row', ofRow: false },
  other_log_total: { inputs: [], result: 'float', shape: 'number', ofRow: false },
  previous: { inputs: [], result: 'integer', shape: 'number', ofRow: false },
  random: { inputs: [], result: 'float', shape: 'number', ofRow: false },
  drawn: { inputs: [], result: 'integer', shape: 'number', ofRow: false },
  negative: { inputs: ['float'], result: 'float', shape: 'inputs', ofRow: false },
  absolute: { inputs: ['float'], result: 'float', shape: 'inputs', ofRow: false },
  square_root: { inputs: ['float'], result: 'float', shape: 'inputs', ofRow: false },
  exp: { inputs: ['float'], result: 'float', shape: 'inputs', ofRow: false },
  log: { inputs: ['float'], result: 'float', shape: 'inputs', ofRow: false },
  not: { inputs: ['condition'], result: 'condition', shape: 'inputs', ofRow: false },
  add: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', ofRow: false },
  subtract: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', ofRow: false },
  multiply: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', ofRow: false },
  divide: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', ofRow: false },
  maximum: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', ofRow: false },
  minimum: { inputs: ['float', 'float'], result: 'float', shape: 'inputs', ofRow: false },
  less: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', ofRow: false },
  less_equal: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', ofRow: false },
  greater: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', ofRow: false },
  greater_equal: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', ofRow: false },
  equal: { inputs: ['float', 'float'], result: 'condition', shape: 'inputs', ofRow: false },
  same: { inputs: ['integer', 'integer'], result: 'condition', shape: 'inputs', ofRow: false },
  and: { inputs: ['condition', 'condition'], result: 'condition', shape: 'inputs', ofRow: false },
  or: { inputs: ['condition', 'condition'], result: 'condition', shape: 'inputs', ofRow: false },
  where: { inputs: ['condition', 'float', 'float'], result: 'float', shape: 'inputs', ofRow: false },
  sum: { inputs: ['float'], result: 'float', shape: 'number', ofRow: true },
  max: { inputs: ['float'], result: 'float', shape: 'number', ofRow: true },
  min: { inputs: ['float'], result: 'float', shape: 'number', ofRow: true },
  mean: { inputs: ['float'], result: 'float', shape: 'number', ofRow: true },
  log_sum_exp: { inputs: ['float'], result: 'float', shape: 'number', ofRow: true },
  cumulative_sum: { inputs: ['float'], result: 'float', shape: 'row', ofRow: true },
  mass_threshold: { inputs: ['float', 'float', 'float'], result: 'float', shape: 'number', ofRow: true },
  at: { inputs: ['float', 'integer'], result: 'float', shape: 'number', ofRow: true },
  gather: { inputs: ['float', 'integer'], result: 'float', shape: 'row', ofRow: true },
  scatter: { inputs: ['float', 'integer', 'float'], result: 'float', shape: 'row', ofRow: true },
  hash: { inputs: ['integer', 'integer', 'integer'], result: 'float', shape: 'inputs', ofRow: false },
  to_float: { inputs: ['integer'], result: 'float', shape: 'inputs', ofRow: false },
  to_integer: { inputs: ['float'], result: 'integer', shape: 'inputs', ofRow: false },
};
