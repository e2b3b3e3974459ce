/**
 * The state of a reply to a cue: what a decoder needs to continue in it, and where its answer begins.
 *
 * The *lead* of a reply is the header of the message being written, where replies are made of messages. Elsewhere it is
 * the end of the thought that the cue has opened, up to the token that closes it. Bytes are compared as texts with a
 * character per byte.
 */

import { fromUtf8, spelled, tokenBytes, utf8 } from '../_decoding/bytes.mjs';

/** @import { Model } from '../model.mjs' */

/** Longer headers do not exist: anything longer is plain text. */
const HEADER_TOKENS = 64;
const BOUNDS = ['<|start|>', '<|end|>'];
const CALLED = /to=functions\.([^ \t\n\r\f\v<]+).*<\|message\|>/s;

/**
 * The lead after `tokens`; [] at the beginning of a reply.
 * @param {Model} model
 * @param {number[]} lead
 * @param {number[]} tokens
 */
export function extendedLead(model, lead, tokens) {
  const { channels, answer_opening: opening } = model.info.formats;
  if (channels) return headerAfter(model, lead, tokens);
  return opening === '' ? [] : thoughtAfter(model, lead, tokens, utf8(opening));
}

/**
 * The tokens to feed a decoder before it continues after `lead`. None of them is visible text.
 * @param {Model} model
 * @param {number[]} lead
 * @returns {number[]}
 */
export function decoderPrefix(model, lead) {
  const { channels, control_tokens: controls, answer_opening: opening } = model.info.formats;
  if (channels) return lead.some((token) => controls.includes(token)) ? [...lead] : [];
  const isClosed = opening !== '' && spelled(tokenBytes(model), lead).includes(utf8(opening));
  return isClosed ? [...model.tokenizer().encode(opening)] : [];
}

/**
 * The tool that the message with the header `lead` calls; '' for any other message.
 * @param {Model} model
 * @param {number[]} lead
 */
export function calledTool(model, lead) {
  const found = model.info.formats.channels ? CALLED.exec(spelled(tokenBytes(model), lead)) : null;
  return found === null ? '' : fromUtf8(found[1]);
}

/**
 * The text after the opening of the answer, in a whole reply to a cue; '' where there is none. The text was generated
 * under a grammar, so it has no control token.
 * @param {Model} model
 * @param {number[]} tokens
 */
export function answerText(model, tokens) {
  const { channels, control_tokens: controls, answer_opening: opening } = model.info.formats;
  if (!channels) {
    const text = model.tokenizer().decode(tokens);
    const at = text.indexOf(opening);
    return at < 0 ? '' : text.slice(at + opening.length);
  }
  if (!spelled(tokenBytes(model), extendedLead(model, [], tokens)).endsWith(utf8(opening))) return '';
  return model.tokenizer().decode(tokens.slice(tokens.findLastIndex((token) => controls.includes(token)) + 1));
}

/** @param {Model} model @param {number[]} lead @param {number[]} tokens @param {string} closing */
function thoughtAfter(model, lead, tokens, closing) {
  const table = tokenBytes(model);
  let followed = [...lead];
  for (const token of tokens) {
    if (spelled(table, followed).includes(closing)) break;
    // Every token has at least one byte, so the closing fits in so many tokens.
    followed = [...followed, token].slice(-closing.length);
  }
  return followed;
}

/** @param {Model} model @param {number[]} lead @param {number[]} tokens */
function headerAfter(model, lead, tokens) {
  let header = [...lead];
  for (const token of tokens) {
    const isWhole = header.length > 0 && isMark(model, /** @type {number} */ (header.at(-1)), ['<|message|>']);
    if (isMark(model, token, BOUNDS) || (isWhole && isMark(model, token, ['<|channel|>']))) header = [token];
    else if (!isWhole) header = [...header, token].slice(-HEADER_TOKENS);
  }
  return header;
}

/** @param {Model} model @param {number} token @param {string[]} marks */
function isMark(model, token, marks) {
  return model.info.formats.control_tokens.includes(token) && marks.includes(spelled(tokenBytes(model), [token]));
}
