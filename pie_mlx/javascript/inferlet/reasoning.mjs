/** The reasoning of replies. */

import { QueueDecoder } from './_decoding/decoder.mjs';

/** @import { Item } from './_decoding/items.mjs' */
/** @import { Model } from './model.mjs' */

/**
 * `idle`: nothing to report. `start`: a reasoning block opened. `delta`: more reasoning text. `end`: the block closed;
 * `text` is all of it.
 * @typedef {{ type: 'idle' }
 *   | { type: 'start' }
 *   | { type: 'delta', text: string }
 *   | { type: 'end', text: string }} Event
 */

/**
 * The reasoning blocks of a reply.
 * @extends {QueueDecoder<Event>}
 */
export class Decoder extends QueueDecoder {
  #block = '';

  /** @param {Model} model */
  constructor(model) {
    super(model);
  }

  /** @override @protected @internal */
  begin() {
    this.#block = '';
  }

  /** @override @param {Item} item @protected @internal */
  onItem(item) {
    if (item.item === 'reasoning_start') {
      this.#block = '';
      this.queue.push({ type: 'start' });
    } else if (item.item === 'reasoning_text') {
      this.#block += item.text;
      this.addText(item.text);
    } else if (item.item === 'reasoning_end') this.queue.push({ type: 'end', text: this.#block });
  }
}
