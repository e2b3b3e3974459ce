/** Vectors of texts, from the final hidden states of a model. */

import { InvalidArgumentError } from '../errors.mjs';
import { call, callNow, post } from './host.mjs';

/** @import { HiddenStateValues, SentSlot } from './types.mjs' */

/** Texts whose pages are held at the same time. */
const AT_ONCE = 32;

/**
 * A vector for each text of tokens, in order. Throws InvalidArgumentError, ContextLengthError, OutOfPagesError.
 * @param {string} model
 * @param {number[][]} texts
 * @param {'mean' | 'last'} pooling
 * @param {boolean} normalize
 * @returns {Promise<Float32Array[]>}
 */
export async function embedded(model, texts, pooling, normalize) {
  if (pooling !== 'mean' && pooling !== 'last') {
    throw new InvalidArgumentError(`embed: pooling ${pooling}`, { hint: "use 'mean' or 'last'" });
  }
  if (texts.some((tokens) => tokens.length === 0)) {
    throw new InvalidArgumentError('embed: a text without tokens', { hint: 'leave empty texts out' });
  }
  /** @type {Float32Array[]} */
  const vectors = new Array(texts.length);
  const waiting = texts.entries();
  const work = async () => {
    for (const [place, tokens] of waiting) {
      const found = await vector(model, tokens, pooling);
      vectors[place] = Float32Array.from(normalize ? normalized(found) : found);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, texts.length) }, work));
  return vectors;
}

/** @param {string} model @param {number[]} tokens @param {'mean' | 'last'} pooling */
async function vector(model, tokens, pooling) {
  const { context } = callNow('create_context', { model });
  /** @type {SentSlot} */
  const slot =
    pooling === 'mean'
      ? { index: 0, read: { read: 'hidden_mean' } }
      : { index: tokens.length - 1, read: { read: 'hidden_state' } };
  try {
    const reply = await call('forward', { context, tokens, slots: [slot] });
    return /** @type {HiddenStateValues} */ (reply.results[0]).values;
  } finally {
    post('release_context', { context });
  }
}

/** @param {number[]} values */
function normalized(values) {
  const length = Math.hypot(...values);
  return length === 0 ? values : values.map((value) => value / length);
}
