/** Token-by-token generation. */

import { integer, tokenLimit, tokenList } from './_calls/checks.mjs';
import { answerText } from './_context/reply.mjs';
import { ConstraintSet } from './_generation/constraints.mjs';
import { NO_LIMIT, NoDrafting, SystemDrafting } from './_generation/drafting.mjs';
import { firstHorizon, StepPlan } from './_generation/plan.mjs';
import { parseText, planStructure } from './_generation/structured.mjs';
import { visibleText } from './_generation/transcript.mjs';
import { withEnd } from './_rules/joining.mjs';
import { checkedUse } from './_rules/use.mjs';
import { checkedAdapter, checkedSeed } from './adapter.mjs';
import { ContextBusyError, EmptyMaskError } from './errors.mjs';
import { Output, ProbeHandle } from './output.mjs';
import { checkedProbe, Sampler, singleDraw } from './sampler.mjs';
import { cut, GenStep, neverExecuted, stepSlots } from './step.mjs';

/** @import { SampledTokens, SentForward, SentProspect } from './_calls/types.mjs' */
/** @import { ContextHandle } from './_context/handle.mjs' */
/** @import { PendingBuffer } from './_context/pending.mjs' */
/** @import { Constraints, FinishReason, GenerateOptions } from './_generation/options.mjs' */
/** @import { Others } from './_generation/others.mjs' */
/** @import { RuleUse } from './_rules/use.mjs' */
/** @import { Adapter } from './adapter.mjs' */
/** @import { PassSlots } from './output.mjs' */
/** @import { Probe } from './sampler.mjs' */
/** @import { AttachedProbe, Cut } from './step.mjs' */

/**
 * Generates on a context, from `ctx.generate()`; an async iterable of steps. It keeps its context alive.
 *
 * Each step takes the context's whole buffer as input, draws one token and puts it into the buffer.
 */
export class Generator {
  #handle;
  #pending;
  #sampler;
  #maxTokens;
  #horizon;
  #rebidEachStep;
  #drafting;
  #others;
  #adapter;
  #zoSeed;
  /** @type {ReadonlySet<number>} */
  #stops;
  #constraints;
  /** @type {AttachedProbe[]} */
  #probes = [];
  #generated = 0;
  #countsFromHere;
  #score = 0;
  /** @type {FinishReason | undefined} */
  #ended;
  #stepWaits = false;
  #stepRuns = false;
  #begun = false;
  #isEnd = (/** @type {number} */ token) => this.#stops.has(token) || this.#constraints.endTokens.has(token);

  /**
   * @param {ContextHandle} handle
   * @param {PendingBuffer} pending
   * @param {Sampler} sampler
   * @param {NoDrafting} drafting
   * @param {Others} others
   * @param {GenerateOptions} options
   * @internal
   */
  constructor(handle, pending, sampler, drafting, others, options) {
    handle.check();
    const { autoFlush = true, stop, constrain } = options;
    this.#handle = handle;
    this.#pending = pending;
    this.#sampler = singleDraw(sampler);
    this.#maxTokens = tokenLimit('maxTokens', options.maxTokens);
    this.#horizon = tokenLimit('horizon', options.horizon);
    this.#rebidEachStep = options.rebidEachStep ?? true;
    this.#drafting = drafting;
    this.#others = others;
    this.#adapter = checkedAdapter(options.adapter);
    this.#zoSeed = checkedSeed(options.zoSeed);
    this.#stops = new Set(stop ? this.#tokens(stop) : autoFlush ? handle.model.info.formats.stop_tokens : []);
    this.#constraints = new ConstraintSet(handle.model, options.logitMask ?? []);
    this.#countsFromHere = sampler.countsTokens && sampler.read.since == null;
    const before = pending.snapshot();
    if (autoFlush) pending.render({ role: 'cue' });
    try {
      this.#constraints.limitThoughts(tokenLimit('thinkingBudget', options.thinkingBudget), pending.answerOpening);
      if (constrain !== undefined && constrain !== null) this.constrain(constrain);
      drafting.attach();
      if (autoFlush) others.cue();
    } catch (error) {
      pending.restore(before);
      throw error;
    }
    handle.bidding.prime(firstHorizon(this.#prospect()));
  }

  /** Emit at most `n` tokens; undefined for no limit. Throws InvalidArgumentError below 0. @param {number | undefined} n */
  maxTokens(n) {
    this.#maxTokens = tokenLimit('maxTokens', n);
    this.#reprime();
    return this;
  }

  /** Expect `n` tokens; it shapes bids only. Throws InvalidArgumentError below 0. @param {number | undefined} n */
  horizon(n) {
    this.#horizon = tokenLimit('horizon', n);
    this.#reprime();
    return this;
  }

  /** Replace the stop tokens. @param {Iterable<number>} tokens */
  stop(tokens) {
    return this.#stopAt(new Set(this.#tokens(tokens)));
  }

  /** Add stop tokens. @param {Iterable<number>} tokens */
  addStop(tokens) {
    return this.#stopAt(new Set([...this.#stops, ...this.#tokens(tokens)]));
  }

  /**
   * Whether the engine renews the bid before every step; it stays that of the first step otherwise.
   * @param {boolean} enabled
   */
  rebidEachStep(enabled) {
    this.#rebidEachStep = enabled;
    this.#reprime();
    return this;
  }

  /** Let the engine draft no more; a speculator of the program goes on. */
  disableSystemSpeculation() {
    if (this.#drafting instanceof SystemDrafting) this.#drafting = new NoDrafting();
    return this;
  }

  /**
   * Add a schema, a constraint or an array of them. Right after the cue of a model that reasons before it answers,
   * schemas that are grammars begin with the answer; everything else applies at once.
   *
   * Throws InvalidTypeError for anything else, InvalidArgumentError for a constraint or a matcher that was added
   * before, GrammarError.
   * @param {Constraints} constraint
   */
  constrain(constraint) {
    this.#constraints.attach(constraint, this.#stops, this.#pending.answerOpening);
    return this;
  }

  /**
   * End the text after the token where a rule says so. Throws InvalidArgumentError if it changes logits, or one does so.
   * @param {RuleUse} rule
   */
  until(rule) {
    this.#sampler = this.#sampler.ruled(withEnd(this.#sampler.rule, checkedUse(rule)));
    this.#countsFromHere ||= rule.countsTokens && this.#sampler.read.since == null;
    return this;
  }

  /**
   * Compute every step with an adapter, with none for undefined. Throws InvalidTypeError for anything else.
   * @param {Adapter | undefined} adapter
   */
  adapter(adapter) {
    this.#adapter = checkedAdapter(adapter);
    return this;
  }

  /**
   * Compute every step with the noise of a seed on the adapter; 0 and undefined are no noise.
   * @param {number | bigint | undefined} seed
   */
  zoSeed(seed) {
    this.#zoSeed = checkedSeed(seed);
    return this;
  }

  /**
   * Read the distribution at one input of every step: 0-based in that step's input, -1 is the last. On a step with a
   * shorter input the accessors give undefined.
   * @param {number} index
   * @param {Probe} probe
   */
  probeEachStep(index, probe) {
    const handle = new ProbeHandle();
    this.#probes.push({ handle, index: integer(index, 'index'), probe: checkedProbe(probe) });
    return handle;
  }

  /** Tokens emitted so far, stop tokens excluded. */
  get tokensGenerated() {
    return this.#generated;
  }

  /**
   * Natural log-probability of what was drawn so far, the stop token included: the sum over its tokens, at temperature
   * 1 and before masks. 0 unless the sampler scores (`sampler.scored()`).
   */
  get score() {
    return this.#score;
  }

  /** Draws the next token: `sampler.rule.state` has what its rule carries. */
  get sampler() {
    return this.#sampler;
  }

  /** Whether there is no further step. */
  get isDone() {
    return this.finishReason !== undefined;
  }

  /** Why it has ended; undefined before. @returns {FinishReason | undefined} */
  get finishReason() {
    const isFull = this.#maxTokens !== null && this.#generated >= this.#maxTokens;
    return this.#ended ?? (isFull ? 'length' : undefined);
  }

  /**
   * Register tokens the program chose; returns those kept after stops and limits, which enter the buffer. Throws
   * GrammarRejectedError, with nothing changed, for tokens a grammar forbids.
   * @param {Iterable<number>} tokens
   */
  accept(tokens) {
    const chosen = this.#tokens(tokens);
    this.#handle.check();
    if (this.isDone) return new Uint32Array();
    const result = cut(chosen, this.#isEnd, this.#remaining);
    if (result.fed.length > 0) {
      this.#stepWaits = false; // the next step is another one
      this.#keep(result, this.#constraints.feedMatchers(result.fed) ? 'grammar' : undefined, 0);
      this.#drafting.recordProduced(chosen);
    }
    return Uint32Array.from(result.kept);
  }

  /** The steps to come. */
  [Symbol.asyncIterator]() {
    return { next: () => this.#next() };
  }

  /** Run to the end; returns all emitted tokens. */
  async collectTokens() {
    return Uint32Array.from(await this.#collected());
  }

  /** Run to the end; returns the visible text, without reasoning and tool calls. */
  async collectText() {
    const said = this.#pending.decoderPrefix;
    return visibleText(this.#handle.model, said, await this.#collected());
  }

  /**
   * Run to the end under a JSON Schema and read the text. `schema` is JSON text or an object; without one any JSON
   * comes. `parse` turns the value into the result. Throws StructuredOutputError, with `.text`, when the text does not
   * parse, has a number that no float holds (a grammar allows any exponent where a schema has no bounds), or `parse`
   * throws.
   * @template [T=any]
   * @param {{ schema?: string | object, parse?: (value: any) => T }} [options]
   * @returns {Promise<T>}
   */
  async collectJson({ schema, parse } = {}) {
    const [{ model }, waits] = [this.#handle, this.#pending.answerOpening !== ''];
    this.constrain(planStructure(schema));
    const tokens = await this.#collected();
    const text = waits ? answerText(model, tokens) : model.tokenizer().decode(tokens);
    return parseText(text, parse, this.finishReason === 'length' ? tokens.length : 0);
  }

  /** @returns {Promise<IteratorResult<GenStep, undefined>>} */
  async #next() {
    if (this.#stepWaits) await null; // what executes it may not have begun
    if (this.#stepWaits) throw neverExecuted();
    this.#handle.check();
    this.#drafting.check();
    if (this.isDone || !this.#hasInput()) return { done: true, value: undefined };
    this.#stepWaits = this.#begun = true;
    return { done: false, value: new GenStep((step) => this.#run(step)) };
  }

  async #collected() {
    /** @type {number[]} */
    const emitted = [];
    this.#stepWaits = false; // of a step that was taken and not executed
    for await (const step of this)
      for (const token of (await step.upTo(NO_LIMIT).execute()).tokens) emitted.push(token);
    return emitted;
  }

  /** @param {GenStep} step */
  async #run(step) {
    this.#stepWaits = false;
    this.#handle.check();
    if (this.isDone || !this.#hasInput()) return new Output(undefined, new Map());
    if (!this.#others.isEmpty) await this.#others.prepare(this.#handle, this.#pending);
    const { slots, drawn } = stepSlots(step, this.#sampler, this.#probes, this.#pending.tokens.length);
    const remaining = this.#remaining;
    const reply = await this.#send(this.#request(slots, remaining, drawn === undefined ? 0 : step.most));
    this.#handle.bidding.stepDone();
    if (drawn === undefined) return new Output(reply, slots.spans);
    const { tokens, logprobs, states, ended } = /** @type {SampledTokens} */ (reply.results[0]);
    const result = cut(tokens, this.#isEnd, remaining);
    for (const logprob of logprobs.slice(0, result.fed.length)) this.#score += logprob;
    if (states.length > 0) this.#sampler = this.#sampler.after(states[result.fed.length - 1]);
    this.#keep(result, reply.grammar_terminated ? 'grammar' : ended ? 'rule' : undefined, reply.kept);
    this.#drafting.recordProduced(tokens);
    return new Output(reply, slots.spans, result.kept, drawn);
  }

  /** @param {PassSlots} slots @param {number | null} remaining @param {number} most */
  #request(slots, remaining, most) {
    return new StepPlan({
      handle: this.#handle,
      tokens: [...this.#pending.tokens],
      slots: slots.slots,
      sampler: this.#sampler,
      constraints: this.#constraints,
      drafting: this.#drafting,
      stops: this.#stops,
      adapter: this.#adapter?.id ?? 0,
      zoSeed: this.#zoSeed,
      prospect: this.#prospect(),
      rebids: this.#rebidEachStep,
      hasProbes: this.#probes.length > 0,
      others: this.#others.inputs(),
    }).request(remaining, most);
  }

  /** @param {SentForward} request */
  async #send(request) {
    const tokens = this.#pending.drain();
    this.#stepRuns = true;
    try {
      return await this.#others.run(this.#handle, request, () => this.#pending.giveBack(tokens));
    } catch (error) {
      throw error instanceof EmptyMaskError ? this.#constraints.nothingAllowed() : error;
    } finally {
      this.#stepRuns = false;
    }
  }

  /** Whether there is something to run; otherwise the Generator ends. */
  #hasInput() {
    if (this.#stepRuns)
      throw new ContextBusyError('generate: a step is still running', { hint: 'await it before taking the next one' });
    this.#pending.releaseHeld();
    const count = this.#pending.tokens.length;
    if (this.#countsFromHere) {
      this.#sampler = new Sampler({ ...this.#sampler.read, since: this.#handle.nextSlot + count - this.#generated });
      this.#countsFromHere = false;
    }
    if (count === 0) {
      this.#pending.checkEmpty(this.#begun);
      this.#ended = 'empty';
    } else if (this.#generated > 0 && this.#handle.length + count > this.#handle.model.info.maximum_positions) {
      this.#ended = 'length';
    }
    return this.#ended === undefined;
  }

  /** Tokens that may still be emitted; null without a limit. */
  get #remaining() {
    return this.#maxTokens === null ? null : this.#maxTokens - this.#generated;
  }

  /** @param {Cut} result @param {'grammar' | 'rule' | undefined} ended @param {number} inKv */
  #keep({ kept, fed }, ended, inKv) {
    this.#constraints.recordAccepted(fed);
    this.#generated += kept.length;
    this.#pending.appendToTurn(kept, inKv);
    const isStopped = ended !== 'grammar' && fed.length > kept.length;
    this.#others.keep(kept, inKv, isStopped);
    if (isStopped) this.#pending.stopped = true;
    this.#ended = isStopped ? 'stop' : ended;
  }

  /** The expected length of this text. @returns {SentProspect} */
  #prospect() {
    const [expected, variation] = this.#horizon === null ? [this.#maxTokens, 1] : [this.#horizon, 0];
    return { generated: this.#generated, expected, variation };
  }

  #reprime() {
    if (!this.#rebidEachStep) this.#handle.bidding.prime(firstHorizon(this.#prospect()));
  }

  /** @param {ReadonlySet<number>} stops */
  #stopAt(stops) {
    this.#stops = stops;
    if (this.#generated === 0) this.#constraints.recompile(stops);
    return this;
  }

  /** @param {Iterable<number>} tokens */
  #tokens(tokens) {
    return tokenList(tokens, this.#handle.model.info.vocabulary_size);
  }
}
