/** Sends texts to be embedded, a number of them at a time. */

import { call } from './host.mjs';

/** @import { SentEmbed, SentRerank } from './types.mjs' */

/** Texts of a call. */
const MOST_TEXTS = 128;

/** Characters and tokens of a call, where it has more than one text. */
const MOST_LENGTH = 1 << 18;

/** Calls at the same time: while one is computed, the next one is tokenised. */
const AHEAD = 2;

/**
 * A vector for each text, and how many tokens each has. `fields` are those of the calls besides the texts.
 * @param {(string | number[])[]} texts
 * @param {Omit<SentEmbed, 'texts'>} fields
 * @returns {Promise<Float32Array[] & { tokenCounts: number[] }>}
 */
export async function embedded(texts, fields) {
  const replies = await inParts(texts, (part) => call('embed', { ...fields, texts: part }));
  const vectors = replies.flatMap((reply) => rows(reply.vectors, reply.dimensions));
  return Object.assign(vectors, { tokenCounts: replies.flatMap((reply) => reply.tokens) });
}

/**
 * Documents in order, the best one first, and how many tokens were read for each. `fields` are those of the calls
 * besides the documents.
 * @param {string[]} documents
 * @param {Omit<SentRerank, 'documents'>} fields
 * @param {number} most
 * @returns {Promise<{ index: number, score: number }[] & { tokenCounts: number[] }>}
 */
export async function ranked(documents, fields, most) {
  const replies = await inParts(documents, (part) => call('rerank', { ...fields, documents: part }));
  const scores = replies.flatMap((reply) => reply.scores);
  const order = scores.map((score, index) => ({ index, score })).sort((one, other) => other.score - one.score);
  return Object.assign(order.slice(0, most), { tokenCounts: replies.flatMap((reply) => reply.tokens) });
}

/**
 * @template {string | number[]} Text
 * @template Reply
 * @param {Text[]} texts
 * @param {(part: Text[]) => Promise<Reply>} work
 * @returns {Promise<Reply[]>}
 */
async function inParts(texts, work) {
  /** @type {Reply[]} */
  const replies = [];
  const waiting = parts(texts).entries();
  const next = async () => {
    for (const [place, part] of waiting) replies[place] = await work(part);
  };
  await Promise.all(Array.from({ length: AHEAD }, next));
  return replies;
}

/** @template {string | number[]} Text @param {Text[]} texts @returns {Text[][]} */
function parts(texts) {
  /** @type {Text[][]} */
  const found = [];
  let length = Infinity;
  for (const text of texts) {
    if (length + text.length > MOST_LENGTH || found[found.length - 1].length === MOST_TEXTS) {
      found.push([]);
      length = 0;
    }
    found[found.length - 1].push(text);
    length += text.length;
  }
  return found;
}

/** @param {Uint8Array} data @param {number} width */
function rows(data, width) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Array.from({ length: data.byteLength / (4 * width) }, (_, row) =>
    Float32Array.from({ length: width }, (_, place) => view.getFloat32(4 * (row * width + place), true)),
  );
}
