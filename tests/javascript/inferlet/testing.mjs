/** Tests in a file of their own: each a name and work. Their outcomes are printed as JSON when all have run. */

import assert from 'node:assert/strict';
import { replaceHost } from '../../../pie_mlx/javascript/inferlet/_calls/host.mjs';
import { errorFromCode } from '../../../pie_mlx/javascript/inferlet/errors.mjs';

const tests = [];

export { assert };

/** Adds a test; they run one after the other. */
export function test(name, work) {
  if (tests.push([name, work]) === 1) setImmediate(runAll);
}

/** Makes a host of functions by call the engine; returns the calls it gets. Posted ones are answered too. */
export function playEngine(answers) {
  const calls = [];
  const answer = (name, fields) => {
    calls.push([name, fields]);
    if (!(name in answers)) throw errorFromCode('invalid_argument', `${name}: not expected`);
    return answers[name](fields);
  };
  const call = async (name, fields, signal) => {
    signal?.throwIfAborted();
    const reply = answer(name, fields);
    const aborted = new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    return signal === undefined ? reply : Promise.race([reply, aborted]);
  };
  replaceHost({ call, callNow: answer, post: (name, fields) => name in answers && answer(name, fields) });
  return calls;
}

/** A model's description and what a context needs, for `playEngine`. */
export const MODEL = {
  load_model: () => ({
    name: 'm',
    vocabulary_size: 100,
    page_size: 4,
    maximum_positions: 64,
    formats: { stop_tokens: [1] },
  }),
  create_context: () => ({ context: 7 }),
  release_context: () => null,
  rebid: () => 0,
};

async function runAll() {
  const outcomes = {};
  for (const [name, work] of tests) {
    try {
      await work();
      outcomes[name] = null;
    } catch (error) {
      outcomes[name] = error.stack;
    }
  }
  console.log(JSON.stringify(outcomes));
}
