/** Replies made of messages with headers (gpt-oss): a header names the channel and the recipient of its message. */

import { Detokenizer } from './detokenizer.mjs';
import { textItem } from './items.mjs';

/** @import { Formats } from '../_calls/types.mjs' */
/** @import { Table } from './bytes.mjs' */
/** @import { Item, Parse } from './items.mjs' */

const CHANNEL = /<\|channel\|>\s*([\p{L}\p{N}_]+)/u;
const RECIPIENT = /to=functions\.\S/;
const ENDS = ['<|end|>', '<|start|>', '<|channel|>'];
const BOUNDS = ['<|end|>', '<|start|>'];

/** A scanner. The channel `analysis` is reasoning, a message to a function is a call, everything else is text. */
export class HarmonyScanner {
  #tokens;
  #detokenizer;
  #stops;
  #controls;
  #parse;

  /** @type {'header' | 'text' | 'reasoning' | 'call'} */
  #kind = 'header';
  #header = '';
  #body = '';

  /** @param {Formats} formats @param {Table} tokens @param {Parse} parse */
  constructor(formats, tokens, parse) {
    this.#tokens = tokens;
    this.#detokenizer = new Detokenizer(tokens);
    this.#stops = new Set(formats.stop_tokens);
    this.#controls = new Set(formats.control_tokens);
    this.#parse = parse;
  }

  /** @param {number} token @returns {Generator<Item>} */
  *feed(token) {
    if (this.#stops.has(token)) yield* this.finish();
    else if (this.#tokens.has(token) && !this.#controls.has(token)) yield* this.#append(this.#detokenizer.feed(token));
    else {
      yield* this.#append(this.#detokenizer.finish());
      yield* this.#mark(token, this.#detokenizer.spell(token));
    }
  }

  /** @returns {Generator<Item>} */
  *finish() {
    yield* this.#append(this.#detokenizer.endReply());
    if (this.#kind === 'header' && !this.#header.includes('<|')) yield* visible(this.#header);
    yield* this.#close();
    yield { item: 'turn_end' };
    this.#kind = 'header';
    this.#header = this.#body = '';
  }

  /** @param {string} text @returns {Generator<Item>} */
  *#append(text) {
    if (this.#kind === 'header') this.#header += text;
    else if (this.#kind === 'call') this.#body += text;
    else if (this.#kind === 'text') yield* visible(text);
    else if (text !== '') yield textItem('reasoning_text', text);
  }

  /** @param {number} token @param {string} text @returns {Generator<Item>} */
  *#mark(token, text) {
    if (this.#kind !== 'header' && ENDS.includes(text)) {
      yield* this.#close();
      this.#kind = 'header';
      this.#header = text;
    } else if (this.#kind !== 'header') yield { item: 'control', token };
    else if (text === '<|message|>') yield* this.#open();
    else {
      // A message without a header.
      if (BOUNDS.includes(text) && !this.#header.includes('<|')) {
        yield* visible(this.#header);
        this.#header = '';
      }
      this.#header += text;
    }
  }

  /** @returns {Generator<Item>} */
  *#open() {
    if (RECIPIENT.test(this.#header)) {
      this.#kind = 'call';
      this.#body = '';
      yield { item: 'call_start' };
    } else if (CHANNEL.exec(this.#header)?.[1] === 'analysis') {
      this.#kind = 'reasoning';
      yield { item: 'reasoning_start' };
    } else this.#kind = 'text';
  }

  /** @returns {Generator<Item>} */
  *#close() {
    if (this.#kind === 'reasoning') yield { item: 'reasoning_end' };
    if (this.#kind !== 'call') return;
    const calls = this.#parse(`${this.#header}<|message|>${this.#body}`);
    if (calls.length > 0) yield { item: 'call_end', calls };
    else yield* visible(this.#body);
  }
}

/** @param {string} text @returns {Generator<Item>} */
function* visible(text) {
  if (text !== '') yield textItem('text', text);
}
