/** Input of a context that has no KV yet: buffered tokens and how far its conversation is rendered. */

import { callNow } from '../_calls/host.mjs';
import { ContextBusyError, InvalidArgumentError } from '../errors.mjs';
import { calledTool, decoderPrefix, extendedLead } from './reply.mjs';

/** @import { ChatState, PendingInput, SentTurn } from '../_calls/types.mjs' */
/** @import { ContextHandle } from './handle.mjs' */

/** @type {Readonly<ChatState>} */
const NEW_CHAT = Object.freeze({ last: null, held: [], due: '', owed: '', inline: false, turns: [], began: '' });

/** @type {Readonly<PendingInput>} */
export const NOTHING_PENDING = Object.freeze({ tokens: [], chat: NEW_CHAT, cued: null, lead: [], stopped: false });

/** The pending buffer of one context. */
export class PendingBuffer {
  #handle;
  #model;
  /** @type {Readonly<ChatState>} */
  #chat = NEW_CHAT;
  /** The slot after the last cue. @type {number | null} */
  #cued = null;
  /** @type {number[]} */
  #lead = [];

  /** @type {number[]} */
  tokens = [];
  /** A stop token has ended the text, and nothing was buffered since. */
  stopped = false;

  /** @param {ContextHandle} handle @param {Readonly<PendingInput>} pending */
  constructor(handle, pending) {
    this.#handle = handle;
    this.#model = handle.model;
    this.restore(pending);
  }

  /** Buffer a turn as the model's template writes it. Throws TemplateError. @param {SentTurn} turn */
  render(turn) {
    if (turn.role === 'cue') this.releaseHeld();
    const named = turn.role === 'seal' ? { ...turn, name: calledTool(this.#model, this.#lead) } : turn;
    const { name, template } = this.#model;
    const rendered = callNow('render_turn', { model: name, turn: named, state: this.#chat, template });
    this.#chat = rendered.state;
    this.#add(rendered.tokens);
    this.stopped = false;
    if (turn.role === 'flush') return;
    this.#cued = turn.role === 'cue' ? this.#end : null;
    this.#lead = [];
  }

  /** The text the reply to the cue opens with before its answer; '' for none, or once tokens follow the cue. */
  get answerOpening() {
    return this.#cued === this.#end ? this.#model.info.formats.answer_opening : '';
  }

  /** The tokens that a decoder must see first to continue in the reply. */
  get decoderPrefix() {
    return decoderPrefix(this.#model, this.#lead);
  }

  /** Buffer the turns that were held back. */
  releaseHeld() {
    if (this.#chat.held.length > 0) this.render({ role: 'flush' });
  }

  /**
   * Buffer raw tokens after everything held back. The conversation after them counts as begun, and the separator that
   * the last turn owed is dropped.
   * @param {number[]} tokens
   */
  append(tokens) {
    this.endTurn();
    this.appendToTurn(tokens);
    this.#chat = this.#chat.last === null ? { ...NEW_CHAT, last: 'flush' } : { ...this.#chat, owed: '' };
  }

  /** `append` the tokens of a text. @param {string} text */
  appendText(text) {
    this.endTurn();
    const tokens = this.#model.tokenizer().encode(text, { begins: this.#end === 0 });
    if (tokens.length > 0) this.append([...tokens]);
  }

  /** Buffer everything held back, including the end of the last turn, because raw tokens follow. */
  endTurn() {
    this.releaseHeld();
    if (this.#chat.due === '') return;
    this.#add(callNow('encode', { model: this.#model.name, text: this.#chat.due }));
    this.#chat = { ...this.#chat, due: '' };
  }

  /**
   * Buffer tokens of the turn that is being written; the first `inKv` of them are in KV already.
   * @param {number[]} tokens
   * @param {number} [inKv]
   */
  appendToTurn(tokens, inKv = 0) {
    this.#add(tokens.slice(inKv));
    this.stopped = false;
    if (this.#cued !== null) this.#lead = extendedLead(this.#model, this.#lead, tokens);
  }

  /**
   * Throw if another pass of this context has taken the buffer, or a text that has not `begun` has no token to go on
   * from. One that a stop token has ended has none for a reason.
   * @param {boolean} begun
   */
  checkEmpty(begun) {
    if (this.#handle.isInFlight) {
      const hint = 'await that one first, or fork the context for each text';
      throw new ContextBusyError('generate: the buffer is empty, and another pass of this context is still running', {
        hint,
      });
    }
    if (begun || this.stopped) return;
    const hint = 'append a token or a turn and do not flush it, or leave autoFlush on';
    throw new InvalidArgumentError('generate: the context has no pending token to go on from', { hint });
  }

  /** Empty the buffer, held turns included. */
  drain() {
    this.releaseHeld();
    const tokens = this.tokens;
    this.tokens = [];
    return tokens;
  }

  /** Put drained tokens back, before anything buffered since. @param {number[]} tokens */
  giveBack(tokens) {
    this.tokens = [...tokens, ...this.tokens];
  }

  /** A copy, as a value. @returns {PendingInput} */
  snapshot() {
    const [tokens, lead] = [[...this.tokens], [...this.#lead]];
    return { tokens, chat: this.#chat, cued: this.#cued, lead, stopped: this.stopped };
  }

  /** Return to a snapshot. @param {Readonly<PendingInput>} pending */
  restore(pending) {
    this.tokens = [...pending.tokens];
    this.#chat = pending.chat;
    this.#cued = pending.cued;
    this.#lead = [...pending.lead];
    this.stopped = pending.stopped;
  }

  /** The slot after everything buffered. */
  get #end() {
    return this.#handle.nextSlot + this.tokens.length;
  }

  /** @param {Iterable<number>} tokens */
  #add(tokens) {
    for (const token of tokens) this.tokens.push(token);
  }
}
