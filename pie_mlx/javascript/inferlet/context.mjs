/** Contexts: sequences of KV pages with a pending buffer. */

import { checkedText, integer, number, tokenList } from './_calls/checks.mjs';
import { call, callNow, post } from './_calls/host.mjs';
import { spacedText } from './_calls/payload.mjs';
import { ContextHandle } from './_context/handle.mjs';
import { NOTHING_PENDING, PendingBuffer } from './_context/pending.mjs';
import { turnOf } from './_context/turn_tokens.mjs';
import { draftingOf } from './_generation/drafting.mjs';
import { Others, register } from './_generation/others.mjs';
import { InvalidArgumentError } from './errors.mjs';
import { Forward } from './forward.mjs';
import { Generator } from './generator.mjs';
import { checkedModel } from './model.mjs';
import { checkedSampler } from './sampler.mjs';

/** @import { ContextState, PendingInput, SentTurn } from './_calls/types.mjs' */
/** @import { RetainOptions } from './_context/bidding.mjs' */
/** @import { GenerateOptions } from './_generation/options.mjs' */
/** @import { Model } from './model.mjs' */
/** @import { Sampler } from './sampler.mjs' */

/**
 * A sequence of KV pages in the engine, and a buffer of tokens that have no KV yet.
 *
 * Pages are released by `release()`, at the end of `using`, and with the last reference; a live Forward, Generator or
 * GenStep keeps them. Later use throws ContextReleasedError.
 */
export class Context {
  #handle;
  #pending;

  /**
   * A fresh context.
   * @param {Model} model
   */
  constructor(model) {
    const { name } = checkedModel(model);
    const { state, pending } = restored ?? { state: callNow('create_context', { model: name }), pending: NOTHING_PENDING };
    this.#handle = new ContextHandle(model, state);
    this.#pending = new PendingBuffer(this.#handle, pending);
    register(this, { handle: this.#handle, pending: this.#pending });
  }

  /**
   * A copy of a saved snapshot, which stays; undefined when the name is absent. Throws SnapshotIncompatibleError for
   * one that was kept on disk by another model or tokenizer.
   * @param {Model} model
   * @param {string} name
   * @returns {Context | undefined}
   */
  static open(model, name) {
    return opened(model, name, false);
  }

  /**
   * A saved snapshot as a context; the name is removed. undefined when it is absent.
   * @param {Model} model
   * @param {string} name
   * @returns {Context | undefined}
   */
  static take(model, name) {
    return opened(model, name, true);
  }

  /**
   * Drop a saved snapshot. Throws SnapshotNotFoundError.
   * @param {Model} model
   * @param {string} name
   */
  static delete(model, name) {
    callNow('delete_snapshot', { model: checkedModel(model).name, name: checkedText(name, 'snapshot name') });
  }

  /**
   * Bring the pages of a saved snapshot into the pool, as `prefetch` does, before it is opened. Returns whether they
   * are there; false when the name is absent.
   * @param {Model} model
   * @param {string} name
   */
  static async prefetchSaved(model, name) {
    using found = Context.open(model, name) ?? null;
    return found === null ? false : await found.prefetch();
  }

  /** A copy that shares every committed page and has the same buffer; its bid starts at 0. */
  fork() {
    this.#handle.computePromised();
    const state = callNow('fork_context', { context: this.#handle.id });
    return made(this.model, { state, pending: this.#pending.snapshot() });
  }

  /**
   * Save under a name, replacing what was there. Throws InvalidArgumentError for a bad name.
   *
   * `persist` also writes it to disk, for engines that are started later, and with `kv_disk` its KV as far as the day's
   * writes allow; without it `persist_snapshots` of the configuration counts. Throws SnapshotError when the disk fails
   * or this user's limit is reached, and SnapshotIncompatibleError for KV computed with an adapter; the old snapshot
   * stays.
   * @param {string} name
   * @param {{ persist?: boolean }} [options]
   */
  save(name, { persist } = {}) {
    if (checkedText(name, 'snapshot name') === '') {
      throw new InvalidArgumentError('snapshot name: it is empty', { hint: 'use snapshot() for a generated name' });
    }
    this.#save(name, persist ?? null);
  }

  /** Save under a fresh name; returns it. Throws SnapshotError when this user's limit is reached. */
  snapshot() {
    return this.#save('', false);
  }

  /** Release all pages now. Releasing twice is no error. */
  release() {
    this.#handle.release();
  }

  [Symbol.dispose]() {
    this.release();
  }

  /**
   * Buffer a system message; it may be held back until the first user message or the flush.
   * @param {string} text
   */
  system(text) {
    return this.#turn({ role: 'system', text: checkedText(text, 'system') });
  }

  /** Buffer a user message. @param {string} text */
  user(text) {
    return this.#turn({ role: 'user', text: checkedText(text, 'user') });
  }

  /**
   * Buffer an assistant message of the past; `calls` are the tools it called and their arguments as JSON text.
   * @param {string} text
   * @param {Iterable<readonly [name: string, args: string]>} [calls]
   */
  assistant(text, calls = []) {
    const called = Array.from(calls, ([name, args]) => {
      return { name: checkedText(name, 'tool'), arguments: checkedText(args, name) };
    });
    return this.#turn({ role: 'assistant', text: checkedText(text, 'assistant'), calls: called });
  }

  /**
   * Offer tools, by their JSON descriptions, where the model's template puts them.
   * @param {Iterable<string | object>} schemas
   */
  equipTools(schemas) {
    return this.#turn({ role: 'tools', schemas: Array.from(schemas, (schema) => spacedText('tool schema', schema)) });
  }

  /**
   * Buffer a tool's result; values other than strings are JSON-encoded.
   * @param {string} name
   * @param {unknown} value
   */
  answerTool(name, value) {
    return this.#turn({ role: 'tool_result', text: spacedText('tool result', value), name: checkedText(name, 'tool') });
  }

  /** Buffer the start of the model's turn. */
  cue() {
    return this.#turn({ role: 'cue' });
  }

  /** Buffer the end of the model's turn. Where calls end differently, it is written with the next turn. */
  seal() {
    return this.#turn({ role: 'seal' });
  }

  /**
   * Buffer raw tokens, after turns that were held back. Tokens of a turn (`chat.user(...)`) are rendered as that turn
   * at this point of the conversation. Throws InvalidArgumentError outside the vocabulary.
   * @param {Iterable<number>} tokens
   */
  append(tokens) {
    const turn = turnOf(tokens);
    if (turn !== undefined) return this.#turn(turn);
    const added = tokenList(tokens, this.model.info.vocabulary_size);
    this.#handle.check();
    if (added.length > 0) this.#pending.append(added);
    return this;
  }

  /**
   * Buffer a text, after turns that were held back. One that begins the sequence gets the tokens that the tokenizer
   * puts before one, such as BOS.
   * @param {string} text
   */
  appendText(text) {
    this.#handle.check();
    this.#pending.appendText(checkedText(text, 'appendText'));
    return this;
  }

  /**
   * Compute the buffer and commit full pages; does nothing without pending tokens.
   *
   * When it throws, the buffer is as before. Throws ContextLengthError, OutOfPagesError, TokenBudgetError,
   * BatchFailedError.
   */
  async flush() {
    this.#handle.check();
    const tokens = this.#pending.drain();
    if (tokens.length === 0 && !this.#handle.owesTokens) return;
    const request = { context: this.id, pending: tokens, horizon: this.#handle.bidding.forRawPass() };
    await this.#handle.run(request, () => this.#pending.giveBack(tokens));
  }

  /**
   * A pass built by hand. It takes over the buffer, which is computed with the pass, at the latest by the next
   * operation of the context.
   */
  forward() {
    this.#handle.check();
    this.#pending.endTurn();
    this.#handle.promise(this.#pending.drain());
    return new Forward(this.#handle);
  }

  /**
   * Generate from here on. Throws InvalidArgumentError, InvalidTypeError, GrammarError, SpeculationError.
   * @param {Sampler} sampler
   * @param {GenerateOptions} [options]
   */
  generate(sampler, options = {}) {
    const drafting = draftingOf(options, this.model.info.vocabulary_size);
    const others = new Others(this.#handle, checkedSampler(sampler), options);
    return new Generator(this.#handle, this.#pending, sampler, drafting, others, options);
  }

  /**
   * Forget the last `n` working tokens. Throws PageBoundsError for more than there are: committed pages cannot be
   * truncated.
   * @param {number} n
   */
  truncate(n) {
    this.#handle.ask('truncate_tokens', { context: this.#handle.id, tokens: integer(n, 'n') });
  }

  /**
   * Have the engine keep what recurrent layers remember of the tokens with KV, if there are such layers: a later
   * `truncate`, and prompts that begin alike, then compute little again.
   */
  checkpoint() {
    this.#handle.computePromised();
    post('checkpoint_context', { context: this.id });
  }

  /**
   * Bid credits per page per tick; under a Generator for the next pass only. Negative is 0. Returns the bid now in
   * effect. Throws InvalidArgumentError for NaN and Infinity.
   * @param {number} value
   */
  setBid(value) {
    this.#handle.check();
    return this.#handle.bidding.set(value);
  }

  /**
   * Bid 0 until the end of `using _ = ctx.idle()`, or after `expectReturn(seconds)` what that is worth; `setBid` inside
   * takes effect at its end.
   * @param {number} [seconds]
   * @returns {Disposable}
   */
  idle(seconds) {
    const handle = this.#handle;
    handle.check();
    if (seconds !== undefined) this.expectReturn(seconds);
    handle.bidding.enterIdle();
    let isOpen = true;
    return {
      [Symbol.dispose]() {
        if (isOpen && !handle.released) handle.bidding.leaveIdle(handle.hasPages);
        isOpen = false;
      },
    };
  }

  /**
   * Keep the pages of this context while it does nothing. They pay rent meanwhile, and a higher bid or an unpaid rent
   * ends it. Returns for how many seconds it holds. Throws InvalidArgumentError for numbers that are negative or not
   * finite, and for a priority above 1000.
   * @param {RetainOptions} [options]
   */
  retain({ priority = 1, ttlSeconds = 60, prepaid = false } = {}) {
    this.#handle.computePromised();
    const worth = { priority: number(priority, 'priority'), ttl_seconds: number(ttlSeconds, 'ttlSeconds') };
    return callNow('retain_context', { context: this.id, ...worth, prepaid });
  }

  /**
   * This context will be used again in about so many seconds: the sooner, the more its pages are worth. Without
   * `retain` that holds for four times as long. Throws InvalidArgumentError for a negative number.
   * @param {number} seconds
   */
  expectReturn(seconds) {
    this.#handle.check();
    callNow('expect_context', { context: this.id, seconds: number(seconds, 'seconds') });
  }

  /** The pages of this context are the first to go, now and when it is released. Ends `retain`. */
  demote() {
    this.#handle.check();
    callNow('demote_context', { context: this.id });
  }

  /** Bring a suspended context back now, if no other one has to go for it. Returns whether it is in the pool. */
  async prefetch() {
    this.#handle.check();
    return await call('prefetch_context', { context: this.id });
  }

  /**
   * Release all pages now; the engine restores the context when it is used. Throws ContextBusyError while a pass is in
   * flight.
   */
  suspend() {
    this.#handle.check();
    callNow('suspend_context', { context: this.id });
  }

  /** The engine's number for this context. */
  get id() {
    return this.#handle.id;
  }

  /** The model it belongs to. */
  get model() {
    return this.#handle.model;
  }

  /** Tokens per KV page. */
  get pageSize() {
    return this.#handle.pageSize;
  }

  /** Tokens with KV, committed and working; the buffer is not counted. */
  get seqLen() {
    return this.#handle.length;
  }

  /**
   * How the tokens of its prompts came to have KV: `from_memory`, `from_disk`, `replayed` and `computed` count tokens.
   * `miss` is why the first page that was computed had not been cached; null if all was.
   */
  get reuse() {
    return this.#handle.reuse;
  }

  /** Tokens without KV, as a copy. */
  buffer() {
    this.#handle.check();
    return Uint32Array.from(this.#pending.tokens);
  }

  /** @param {SentTurn} turn */
  #turn(turn) {
    this.#handle.check();
    this.#pending.render(turn);
    return this;
  }

  /** @param {string} name @param {boolean | null} persist */
  #save(name, persist) {
    this.#handle.computePromised();
    return callNow('save_snapshot', { context: this.id, pending: this.#pending.snapshot(), name, persist });
  }
}

/**
 * A context of the engine, and what its program holds for it.
 * @typedef {{ state: ContextState, pending: Readonly<PendingInput> }} Restored
 */

/** What `made` hands to the constructor. @type {Restored | undefined} */
let restored;

/** @param {Model} model @param {Restored} found */
function made(model, found) {
  restored = found;
  try {
    return new Context(model);
  } finally {
    restored = undefined;
  }
}

/** @param {Model} model @param {string} name @param {boolean} take */
function opened(model, name, take) {
  const text = checkedText(name, 'snapshot name');
  const found = callNow('open_snapshot', { model: checkedModel(model).name, name: text, take });
  return found === null ? undefined : made(model, found);
}
