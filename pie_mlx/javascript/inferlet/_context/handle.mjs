/** One context of the engine, on the program's side. */

import { call, callNow, forgetOwner, post, whenCollected } from '../_calls/host.mjs';
import { ContextReleasedError, EngineStoppedError } from '../errors.mjs';
import { Bidding } from './bidding.mjs';
import { PrefetchBuffer } from './prefetch.mjs';
import { addReuse, NO_REUSE } from './reuse.mjs';

/** @import { Calls, ContextState, ForwardReply, PageCounters, SentForward } from '../_calls/types.mjs' */
/** @import { Model } from '../model.mjs' */

/**
 * A pass that was sent: `promised` are the drained tokens in it, `giveBack` returns its other input.
 * @typedef {object} InflightPass
 * @property {SentForward} message
 * @property {number[]} promised
 * @property {() => void} giveBack
 * @property {number} ticket
 * @property {number} size
 */

/** The calls that answer with page counters. @typedef {'reserve_pages' | 'truncate_tokens'} PageCall */

const keepNothing = () => {};

/**
 * Owns a context of the engine until the last reference to it is gone.
 *
 * Passes go out through `run`. Tokens drained by `ctx.forward()` are *promised*: they count as computed and travel with
 * the next pass, at latest by the next operation. So do those of prefetched steps.
 */
export class ContextHandle {
  #counters;
  /** The newest counters win, by the order of the calls: replies may be handled out of order. */
  #learned = 0;
  #issued = 0;
  /** @type {number[]} */
  #promised = [];
  /** @type {Set<InflightPass>} */
  #flights = new Set();
  #prefetch = new PrefetchBuffer();

  reuse = NO_REUSE;
  released = false;

  /** @param {Model} model @param {ContextState} state */
  constructor(model, state) {
    this.model = model;
    this.id = state.context;
    this.pageSize = model.info.page_size;
    this.bidding = new Bidding(state.context);
    this.#counters = state.counters;
    const [context, prefetch] = [this.id, this.#prefetch];
    whenCollected(this, () => post('release_context', { context, claimed: prefetch.claimed }));
  }

  /** Tokens in KV, counting the promised ones. */
  get length() {
    this.check();
    return this.#kvLength() + this.#promised.length + this.#flying((flight) => flight.promised.length);
  }

  /** The slot the next token will take, after everything promised and under way. */
  get nextSlot() {
    this.check();
    return this.#kvLength() + this.#promised.length + this.#flying((flight) => flight.size);
  }

  /** Whether it holds pages, by the latest counters. */
  get hasPages() {
    return this.#counters.committed + this.#counters.working > 0;
  }

  /** Whether something promised is still to be computed. */
  get owesTokens() {
    return this.#promised.length > 0;
  }

  /** Whether a pass is in flight. */
  get isInFlight() {
    return this.#flights.size > 0;
  }

  /** Throws ContextReleasedError after release. */
  check() {
    if (!this.released) return;
    const hint = 'create, fork or open another context';
    throw new ContextReleasedError(`context ${this.id}: it was released`, { hint });
  }

  /** Add drained tokens, to be computed with the next pass. @param {Iterable<number>} tokens */
  promise(tokens) {
    for (const token of tokens) this.#promised.push(token);
  }

  /**
   * Make a call that returns the page counters, after computing everything promised.
   * @template {PageCall} N
   * @param {N} name
   * @param {Calls[N]['fields']} fields
   * @returns {PageCounters}
   */
  ask(name, fields) {
    this.computePromised();
    const ticket = this.#ticket();
    const counters = callNow(name, fields);
    this.#learnCounters(ticket, counters);
    return counters;
  }

  /**
   * Run a pass. When it does not run, `giveBack` is called and the promised tokens stay promised.
   * @param {SentForward} request
   * @param {() => void} [giveBack]
   * @returns {Promise<ForwardReply>}
   */
  async run(request, giveBack = keepNothing) {
    this.check();
    // Something else was drained, and comes before the request.
    if (this.#promised.length !== this.#prefetch.claimed) this.#prefetch.clear();
    const drawn = this.#prefetch.draw(request);
    if (drawn !== undefined) return this.#prefetched(request, drawn);
    const flight = this.#begin(request, giveBack);
    try {
      return this.#learn(flight, await call('forward', flight.message));
    } catch (error) {
      this.#returnInput(flight);
      throw error;
    } finally {
      this.#flights.delete(flight);
    }
  }

  /**
   * Run a pass of this context and of those that the request names as well: `others` are these, each with what gives its
   * input back where the pass does not run.
   * @param {SentForward} request
   * @param {() => void} giveBack
   * @param {{ handle: ContextHandle, giveBack: () => void }[]} others
   * @returns {Promise<ForwardReply>}
   */
  async runTogether(request, giveBack, others) {
    this.check();
    const flights = [{ handle: /** @type {ContextHandle} */ (this), flight: this.#begin(request, giveBack) }];
    for (const [place, { handle, giveBack: back }] of others.entries()) {
      const { context, tokens } = (request.others ?? [])[place];
      flights.push({ handle, flight: handle.#begin({ context, tokens }, back) });
    }
    try {
      const reply = await call('forward', flights[0].flight.message);
      for (const [place, { handle, flight }] of flights.slice(1).entries())
        handle.#learnCounters(flight.ticket, reply.others[place]);
      return this.#learn(flights[0].flight, reply);
    } catch (error) {
      for (const { handle, flight } of flights) handle.#returnInput(flight);
      throw error;
    } finally {
      for (const { handle, flight } of flights) handle.#flights.delete(flight);
    }
  }

  /** Compute what is promised; blocks for the pass. */
  computePromised() {
    this.check();
    if (this.#promised.length === 0) return;
    const flight = this.#begin({ context: this.id, horizon: this.bidding.forRawPass() }, keepNothing);
    try {
      this.#learn(flight, callNow('forward', flight.message));
    } catch (error) {
      this.#returnInput(flight);
      throw error;
    } finally {
      this.#flights.delete(flight);
    }
  }

  /** Give back the context. Later use throws ContextReleasedError; releasing twice is no error. */
  release() {
    if (this.released) return;
    this.released = true;
    forgetOwner(this);
    try {
      callNow('release_context', { context: this.id, claimed: this.#prefetch.claimed });
    } catch (error) {
      if (!(error instanceof EngineStoppedError)) throw error;
    }
  }

  /** The reply to a pass that the engine has computed already. @param {SentForward} request @param {number} drawn */
  #prefetched(request, drawn) {
    this.promise(request.tokens ?? []);
    const working = this.#counters.working_tokens + this.#promised.length;
    /** @type {ForwardReply} */
    const reply = {
      results: [{ result: 'sampled_tokens', tokens: [drawn], logprobs: [], states: [], ended: false }],
      counters: { ...this.#counters, working_tokens: working },
      grammar_terminated: false,
      attached: 0,
      drafted: 0,
      kept: 0,
      prefetched: [],
      replayed: 0,
      reuse: null,
      forced: 0,
      others: [],
      accepted: 0,
      drafted_by: '',
    };
    return reply;
  }

  /** @param {SentForward} request @param {() => void} giveBack @returns {InflightPass} */
  #begin(request, giveBack) {
    const promised = this.#promised;
    this.#promised = [];
    const pending = [...promised, ...(request.pending ?? [])];
    const message = this.#prefetch.withClaimed({ ...request, pending });
    const size = pending.length + (request.tokens?.length ?? 0);
    const flight = { message, promised, giveBack, ticket: this.#ticket(), size };
    this.#flights.add(flight);
    return flight;
  }

  /** @param {InflightPass} flight */
  #returnInput(flight) {
    this.#promised = [...flight.promised, ...this.#promised];
    this.#prefetch.restoreClaimed(flight.message);
    flight.giveBack();
  }

  /** @param {InflightPass} flight @param {ForwardReply} reply */
  #learn(flight, reply) {
    this.#learnCounters(flight.ticket, reply.counters);
    if (reply.reuse !== null) this.reuse = addReuse(this.reuse, reply.reuse);
    if (reply.prefetched.length > 0 && flight.ticket === this.#issued) this.#prefetch.fill(flight.message, reply);
    return reply;
  }

  /** @param {number} ticket @param {PageCounters} counters */
  #learnCounters(ticket, counters) {
    if (ticket < this.#learned) return;
    this.#learned = ticket;
    this.#counters = counters;
  }

  /** The ticket of a call. Tokens prefetched before the call are discarded. */
  #ticket() {
    this.#prefetch.clear();
    this.#issued += 1;
    return this.#issued;
  }

  #kvLength() {
    return this.#counters.committed * this.pageSize + this.#counters.working_tokens;
  }

  /** @param {(flight: InflightPass) => number} count */
  #flying(count) {
    let sum = 0;
    for (const flight of this.#flights) sum += count(flight);
    return sum;
  }
}
