/** Conversations by hand: the tokens of turns, and the visible text of replies. */

import { checkedText } from './_calls/checks.mjs';
import { writeTurn } from './_context/turn_tokens.mjs';
import { QueueDecoder } from './_decoding/decoder.mjs';

/** @import { SentChatState } from './_calls/types.mjs' */
/** @import { Item } from './_decoding/items.mjs' */
/** @import { Model } from './model.mjs' */

/**
 * `idle`: nothing to report. `delta`: more visible text. `done`: the turn ended; `text` is the whole reply, `tail` its
 * part that no delta delivered. `interrupt`: a control token outside any format.
 * @typedef {{ type: 'idle' }
 *   | { type: 'delta', text: string }
 *   | { type: 'done', text: string, tail: string }
 *   | { type: 'interrupt', token: number }} Event
 */

/** The state inside a conversation, after unknown tokens. @type {SentChatState} */
const LATER = { last: 'flush', inline: true };

/**
 * The visible text of a reply: without reasoning, tool calls and control tokens. With `schemas`, calls of other tools
 * are text.
 * @extends {QueueDecoder<Event>}
 */
export class Decoder extends QueueDecoder {
  #delivered = '';

  /**
   * @param {Model} model
   * @param {Iterable<string | object>} [schemas]
   */
  constructor(model, schemas = []) {
    super(model, schemas);
  }

  /** @override @protected @internal */
  begin() {
    this.#delivered = '';
  }

  /** @override @param {Item} item @protected @internal */
  onItem(item) {
    if (item.item === 'text') this.addText(item.text);
    else if (item.item === 'control') this.queue.push({ type: 'interrupt', token: item.token });
    else if (item.item === 'turn_end') this.#endTurn();
  }

  /** @override @returns {Event} @protected @internal */
  next() {
    const event = super.next();
    if (event.type === 'delta') this.#delivered += event.text;
    return event;
  }

  /** Replace the turn's waiting deltas by the end of the turn, which carries their text. */
  #endTurn() {
    const begin = this.queue.findLastIndex((event) => event.type === 'done') + 1;
    const waiting = this.queue.splice(begin);
    const tail = waiting.map((event) => (event.type === 'delta' ? event.text : '')).join('');
    this.queue.push(...waiting.filter((event) => event.type !== 'delta'));
    this.queue.push({ type: 'done', text: this.#delivered + tail, tail });
    this.#delivered = '';
  }
}

/**
 * The tokens of a system message that begins a conversation. Throws TemplateError.
 * @param {Model} model
 * @param {string} message
 */
export function system(model, message) {
  return writeTurn(model, { role: 'system', text: checkedText(message, 'system') }, {});
}

/**
 * The tokens of a user message inside a conversation. Throws TemplateError.
 * @param {Model} model
 * @param {string} message
 */
export function user(model, message) {
  return writeTurn(model, { role: 'user', text: checkedText(message, 'user') }, LATER);
}

/**
 * The tokens of a past reply inside a conversation. Throws TemplateError.
 * @param {Model} model
 * @param {string} message
 */
export function assistant(model, message) {
  return writeTurn(model, { role: 'assistant', text: checkedText(message, 'assistant') }, LATER);
}

/**
 * The tokens that open the model's turn.
 * @param {Model} model
 */
export function cue(model) {
  return writeTurn(model, { role: 'cue' }, LATER);
}

/**
 * The tokens that end the model's turn.
 *
 * Where a turn that calls a tool ends differently (gpt-oss, Gemma 4), these tokens end a turn without a call. A Context
 * they are appended to knows whether there was a call, and writes the matching end.
 * @param {Model} model
 */
export function seal(model) {
  return writeTurn(model, { role: 'seal' }, LATER);
}

/**
 * The tokens at which a reply ends.
 * @param {Model} model
 */
export function stopTokens(model) {
  return Uint32Array.from(model.info.formats.stop_tokens);
}
