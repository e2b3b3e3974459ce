/** Scanner of replies with reasoning and tool calls between delimiters. */

import { Detokenizer } from './detokenizer.mjs';
import { textItem } from './items.mjs';
import { ClosingFinder, firstMarker, partialMarker, withoutSpaceBefore } from './markers.mjs';

/** @import { Formats, ToolFormat } from '../_calls/types.mjs' */
/** @import { Table } from './bytes.mjs' */
/** @import { Item, Parse } from './items.mjs' */

/** @type {ToolFormat} */
const NO_TOOLS = { style: 'none', openings: [], closing: '', bare: '' };

/** A scanner. It finds delimiters in the text, so one may be a token, several tokens, or part of one. */
export class DelimiterScanner {
  #tokens;
  #detokenizer;
  #stops;
  #controls;
  #reasoning;
  #tools;
  #openings;
  #stripsFirstSpace;
  #parse;
  /** The characters that may begin a delimiter, by place. @type {Record<string, string[]>} */
  #suspicious;

  #begun = false;
  /** In reasoning that the cue has opened, still without text. */
  #isBlank = false;
  /** @type {'beginning' | 'text' | 'reasoning' | 'call' | 'bare'} */
  #place = 'beginning';
  #buffer = '';
  /** Control tokens in the buffer: start, end, token. @type {[number, number, number][]} */
  #marked = [];
  #opening = '';
  #closing = new ClosingFinder('');

  /** @param {Formats} formats @param {Table} tokens @param {Parse} parse */
  constructor(formats, tokens, parse) {
    this.#tokens = tokens;
    this.#detokenizer = new Detokenizer(tokens);
    this.#stops = new Set(formats.stop_tokens);
    this.#controls = new Set(formats.control_tokens);
    this.#reasoning = formats.reasoning;
    this.#tools = formats.tools ?? NO_TOOLS;
    this.#openings = [...this.#tools.openings, ...(this.#reasoning === null ? [] : [this.#reasoning.opening])];
    this.#suspicious = {
      text: this.#openings.flatMap((opening) => opening.slice(0, 1) || []),
      reasoning: [this.#reasoning?.closing.slice(0, 1) ?? ''].filter((first) => first !== ''),
    };
    this.#stripsFirstSpace = formats.strips_first_space;
    this.#parse = parse;
  }

  /** @param {number} token @returns {Generator<Item>} */
  *feed(token) {
    if (this.#stops.has(token)) return yield* this.finish();
    if (!this.#begun) yield* this.#begin();
    this.#append(token);
    if (this.#isPlain()) {
      const text = this.#buffer;
      this.#buffer = '';
      yield textItem(this.#kind, text);
    } else yield* this.#advance();
  }

  /** @returns {Generator<Item>} */
  *finish() {
    this.#buffer += this.#detokenizer.endReply();
    yield* this.#advance();
    if (this.#place === 'call' || this.#place === 'bare') yield* this.#closeAtEnd();
    else yield* this.#emit(this.#buffer.length);
    if (this.#place === 'reasoning') yield { item: 'reasoning_end' };
    yield { item: 'turn_end' };
    this.#restart();
  }

  #restart() {
    this.#begun = this.#isBlank = false;
    this.#place = 'beginning';
    this.#buffer = this.#opening = '';
    this.#marked = [];
  }

  get #kind() {
    return this.#place === 'reasoning' ? /** @type {const} */ ('reasoning_text') : 'text';
  }

  /** @returns {Generator<Item>} */
  *#begin() {
    this.#begun = true;
    if (!this.#reasoning?.opened_by_cue) return;
    this.#place = 'reasoning';
    this.#isBlank = this.#tools.openings.length > 0;
    yield { item: 'reasoning_start' };
  }

  /** @param {number} token */
  #append(token) {
    if (this.#tokens.has(token) && !this.#controls.has(token)) {
      const text = this.#detokenizer.feed(token);
      const isFirst = this.#stripsFirstSpace && this.#place === 'beginning' && this.#buffer === '';
      this.#buffer += isFirst && text.startsWith(' ') ? text.slice(1) : text;
      return;
    }
    this.#buffer += this.#detokenizer.finish();
    const start = this.#buffer.length;
    this.#buffer += this.#detokenizer.spell(token);
    this.#marked.push([start, this.#buffer.length, token]);
  }

  /** Whether no delimiter can begin in the buffer, which is the usual case. */
  #isPlain() {
    const suspicious = this.#suspicious[this.#place];
    if (suspicious === undefined || this.#marked.length > 0 || this.#isBlank || this.#buffer === '') return false;
    return !suspicious.some((character) => this.#buffer.includes(character));
  }

  /** @returns {Generator<Item>} */
  *#advance() {
    let place;
    while (place !== this.#place) {
      place = this.#place;
      if (place === 'beginning') this.#leaveBeginning();
      else if (place === 'text') yield* this.#scanText();
      else if (place === 'reasoning') yield* this.#scanReasoning();
      else if (place === 'call') yield* this.#scanCall();
    }
  }

  #leaveBeginning() {
    if (this.#tools.bare === '') {
      this.#place = 'text';
      return;
    }
    const start = withoutSpaceBefore(this.#buffer);
    if (start !== '') this.#place = start.startsWith(this.#tools.bare) ? 'bare' : 'text';
  }

  /** @returns {Generator<Item>} */
  *#scanText() {
    const found = firstMarker(this.#buffer, this.#openings);
    if (found === undefined) {
      yield* this.#emit(this.#buffer.length - partialMarker(this.#buffer, this.#openings));
      return;
    }
    const [at, opening] = found;
    yield* this.#emit(at);
    this.#cut(opening.length);
    if (opening === this.#reasoning?.opening) {
      this.#place = 'reasoning';
      yield { item: 'reasoning_start' };
      return;
    }
    this.#place = 'call';
    this.#opening = opening;
    this.#closing = new ClosingFinder(this.#tools.closing);
    yield { item: 'call_start' };
  }

  /** @returns {Generator<Item>} */
  *#scanReasoning() {
    if (this.#isBlank) yield* this.#skipThought();
    if (!this.#isBlank) yield* this.#scanThought();
  }

  /**
   * A reply that begins with a call has no reasoning: a grammar of calls leaves no room to close it.
   * @returns {Generator<Item>}
   */
  *#skipThought() {
    const start = withoutSpaceBefore(this.#buffer);
    if (this.#tools.openings.some((opening) => start.startsWith(opening))) {
      yield* this.#emit(this.#buffer.length - start.length);
      this.#place = 'text';
      yield { item: 'reasoning_end' };
    } else if (start !== '' && !this.#tools.openings.some((opening) => opening.startsWith(start))) {
      this.#isBlank = false;
    }
  }

  /** @returns {Generator<Item>} */
  *#scanThought() {
    const closing = this.#reasoning?.closing ?? '';
    const at = this.#buffer.indexOf(closing);
    if (at < 0) {
      yield* this.#emit(this.#buffer.length - partialMarker(this.#buffer, [closing]));
      return;
    }
    yield* this.#emit(at);
    this.#cut(closing.length);
    this.#place = 'text';
    yield { item: 'reasoning_end' };
  }

  /** @returns {Generator<Item>} */
  *#scanCall() {
    const at = this.#closing.find(this.#buffer);
    if (at === undefined) return;
    const end = at + this.#tools.closing.length;
    yield this.#resolved(this.#opening + this.#buffer.slice(0, end));
    this.#cut(end);
    this.#place = 'text';
    yield* this.#scanText();
  }

  /** @returns {Generator<Item>} */
  *#closeAtEnd() {
    const raw = this.#opening + this.#buffer;
    this.#cut(this.#buffer.length);
    if (this.#place === 'bare') {
      const calls = this.#parse(raw);
      if (calls.length > 0)
        yield* [{ item: /** @type {const} */ ('call_start') }, { item: /** @type {const} */ ('call_end'), calls }];
      else yield textItem('text', raw);
    } else if (this.#tools.closing !== '') yield textItem('text', raw);
    else yield this.#resolved(raw);
  }

  /** @param {string} raw @returns {Item} */
  #resolved(raw) {
    const calls = this.#parse(raw);
    return calls.length > 0 ? { item: 'call_end', calls } : textItem('text', raw);
  }

  /**
   * Emit the buffer up to `end`, with its control tokens as separate items.
   * @param {number} end
   * @returns {Generator<Item>}
   */
  *#emit(end) {
    const kind = this.#kind;
    let start = 0;
    for (const [controlStart, controlEnd, token] of this.#marked) {
      if (controlEnd > end) break;
      if (controlStart > start) yield textItem(kind, this.#buffer.slice(start, controlStart));
      yield { item: 'control', token };
      start = controlEnd;
    }
    if (end > start) yield textItem(kind, this.#buffer.slice(start, end));
    this.#cut(end);
  }

  /** @param {number} end */
  #cut(end) {
    this.#buffer = this.#buffer.slice(end);
    const rest = this.#marked.filter(([start]) => start >= end);
    this.#marked = rest.map(([start, stop, token]) => [start - end, stop - end, token]);
  }
}
