/** The base of the three decoders: a token stream in, one event per call out. */

import { integers } from '../_calls/checks.mjs';
import { callNow } from '../_calls/host.mjs';
import { schemaTexts } from '../_calls/payload.mjs';
import { checkedModel } from '../model.mjs';
import { tokenBytes } from './bytes.mjs';
import { DelimiterScanner } from './delimiters.mjs';
import { HarmonyScanner } from './harmony.mjs';

/** @import { Model } from '../model.mjs' */
/** @import { Item, Scanner } from './items.mjs' */

/** An event of a decoder. @typedef {{ type: string, text?: string }} AnyEvent */

/**
 * Queues the events of one stream; the events do not depend on how the tokens are split into feeds.
 * @template {AnyEvent} E
 */
export class QueueDecoder {
  #model;
  #schemas;
  /** @type {Scanner} */
  #scanner;
  /** The events not yet returned. @type {E[]} @protected @internal */
  queue = [];

  /**
   * @param {Model} model
   * @param {Iterable<string | object>} [schemas]
   */
  constructor(model, schemas = []) {
    this.#model = checkedModel(model);
    this.#schemas = schemaTexts(schemas);
    this.#scanner = this.#newScanner();
  }

  /**
   * Decode tokens and return the oldest event not yet returned, one of type `idle` if there is none. `feed([])` drains.
   * @param {Iterable<number>} tokens
   * @returns {E}
   */
  feed(tokens) {
    for (const token of integers(tokens, 'tokens')) this.#absorb(this.#scanner.feed(token));
    return this.next();
  }

  /**
   * End the turn as a stop token would, and return an event as `feed` does: for a reply that was cut short.
   * @returns {E}
   */
  finish() {
    this.#absorb(this.#scanner.finish());
    return this.next();
  }

  /** Forget everything, as if newly made. */
  reset() {
    this.#scanner = this.#newScanner();
    this.queue = [];
    this.begin();
  }

  /** Forget the turn. @protected @internal */
  begin() {}

  /** Turn an item of the stream into events, or ignore it. @param {Item} _item @protected @internal */
  onItem(_item) {}

  /** Queue text as an event; it joins the piece before it. @param {string} text @protected @internal */
  addText(text) {
    const last = this.queue.at(-1);
    if (last?.type === 'delta') last.text += text;
    else this.queue.push(/** @type {any} */ ({ type: 'delta', text }));
  }

  /** @returns {E} @protected @internal */
  next() {
    return this.queue.shift() ?? /** @type {any} */ ({ type: 'idle' });
  }

  /** @param {Iterable<Item>} items */
  #absorb(items) {
    for (const item of items) this.onItem(item);
  }

  #newScanner() {
    const { name, info } = this.#model;
    const parse = (/** @type {string} */ text) =>
      callNow('parse_tool_call', { model: name, text, schemas: this.#schemas });
    const Kind = info.formats.channels ? HarmonyScanner : DelimiterScanner;
    return new Kind(info.formats, tokenBytes(this.#model), parse);
  }
}
