/** Incremental detokenisation, in time linear in the number of tokens. */

import { ModelError } from '../errors.mjs';

/** @import { Table } from './bytes.mjs' */

const NOTHING = new Uint8Array();

const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Text of a token stream. Bytes of an unfinished character are held back until it is whole. Ids the tokenizer does not
 * have give no text.
 */
export class Detokenizer {
  #tokens;
  #decoder = newDecoder();
  #hasText = false;
  #unknown = 0;

  /** @param {Table} tokens */
  constructor(tokens) {
    this.#tokens = tokens;
  }

  /** The text that this token completes. @param {number} token */
  feed(token) {
    this.#hasText = true;
    return this.#decoder.decode(this.#tokens.get(token) ?? NOTHING, { stream: true });
  }

  /** End the text: a remainder becomes one U+FFFD. The next `feed` begins a new one. */
  finish() {
    return this.#decoder.decode(NOTHING);
  }

  /** A control token's own text, '' for an id the tokenizer does not have. @param {number} token */
  spell(token) {
    const bytes = this.#tokens.get(token);
    if (bytes === undefined) this.#unknown += 1;
    return newDecoder().decode(bytes ?? NOTHING);
  }

  /** `finish`. Throws ModelError for a reply without text whose ids are not the tokenizer's. */
  endReply() {
    const [hasText, unknown] = [this.#hasText, this.#unknown];
    [this.#hasText, this.#unknown] = [false, 0];
    if (unknown === 0 || hasText) return this.finish();
    const message = `reply: none of it can be decoded, ${unknown} of its tokens are not in the tokenizer's vocabulary`;
    const hint = 'the tokenizer is not that of the weights: copy the tokenizer files of the original model';
    throw new ModelError(message, { hint });
  }
}
