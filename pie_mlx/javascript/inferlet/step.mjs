/** One step of a Generator. */

import { integer } from './_calls/checks.mjs';
import { InvalidArgumentError, StepConsumedError } from './errors.mjs';
import { PassSlots, ProbeHandle, SampleHandle } from './output.mjs';
import { checkedProbe } from './sampler.mjs';

/** @import { Output } from './output.mjs' */
/** @import { Probe, Sampler } from './sampler.mjs' */

/**
 * A probe, the handle that names it and the input that it reads.
 * @typedef {{ handle: ProbeHandle, index: number, probe: Probe }} AttachedProbe
 */

/**
 * `kept` tokens are emitted; `fed` tokens go to the constraints: the kept ones and the stop that ended them.
 * @typedef {{ kept: number[], fed: number[] }} Cut
 */

/**
 * Cut at the limit and at the first stop, which is not kept. A stop beyond the limit does not count.
 * @internal
 * @param {number[]} tokens
 * @param {(token: number) => boolean} isStop
 * @param {number | null} remaining  null for no limit
 * @returns {Cut}
 */
export function cut(tokens, isStop, remaining) {
  const within = remaining === null ? tokens : tokens.slice(0, remaining);
  const place = within.findIndex(isStop);
  return place < 0 ? { kept: within, fed: within } : { kept: within.slice(0, place), fed: within.slice(0, place + 1) };
}

/**
 * What a step reads of its `count` inputs: a draw, the probes of each step where they are inside, and its own. Throws
 * InvalidArgumentError for one of its own that is outside.
 * @param {GenStep} step
 * @param {Sampler} sampler
 * @param {AttachedProbe[]} probesOfEach
 * @param {number} count
 * @internal
 */
export function stepSlots(step, sampler, probesOfEach, count) {
  const slots = new PassSlots();
  const drawn = step.samples ? new SampleHandle() : undefined;
  if (drawn !== undefined) slots.attach(drawn, [count - 1], sampler);
  const isInside = (/** @type {AttachedProbe} */ { index }) => index >= -count && index < count;
  const outside = step.probes.find((each) => !isInside(each));
  if (outside !== undefined) {
    const message = `probe: index ${outside.index} is outside the step's ${count} inputs`;
    throw new InvalidArgumentError(message, { hint: '-1 is the last input' });
  }
  for (const { handle, index, probe } of [...probesOfEach.filter(isInside), ...step.probes]) {
    slots.attach(handle, [index < 0 ? index + count : index], probe);
  }
  return { slots, drawn };
}

/** The error of a program that asks for a step after one that it did not execute. @internal */
export function neverExecuted() {
  const hint = "write 'const out = await step.execute()' in the loop, or take text whole with collectText()";
  return new InvalidArgumentError('generate: the last step was never executed, so the next one is the same', { hint });
}

/**
 * The next pass of a Generator, not run yet. A step that is never executed changes nothing; asking for the next one
 * then throws InvalidArgumentError, unless tokens were accepted.
 */
export class GenStep {
  #run;
  #consumed = false;
  /** Whether the Generator's own sampler is attached. @internal */
  samples = true;
  /** The largest number of tokens it may give. @internal */
  most = 1;
  /** The probes of this step alone. @type {AttachedProbe[]} @internal */
  probes = [];

  /** @param {(step: GenStep) => Promise<Output>} run @internal */
  constructor(run) {
    this.#run = run;
  }

  /** Draw nothing in this step: read probes and choose with `generator.accept`. */
  clearSampler() {
    this.samples = false;
    return this;
  }

  /**
   * Read the distribution at one input of this step: 0-based, -1 is the last.
   * @param {number} index
   * @param {Probe} probe
   */
  probe(index, probe) {
    const handle = new ProbeHandle();
    this.probes.push({ handle, index: integer(index, 'index'), probe: checkedProbe(probe) });
    return handle;
  }

  /**
   * Let the engine draw up to `n` tokens in one step, as long as it does not need the program: no probe, no constraint
   * or speculator of the program's own, no bid set by hand. Stops and limits apply as usual. Throws
   * InvalidArgumentError below 1.
   * @param {number} n
   */
  upTo(n) {
    const most = integer(n, 'n');
    if (most < 1) throw new InvalidArgumentError(`upTo: ${n}`, { hint: 'a step draws at least one token' });
    this.most = most;
    return this;
  }

  /**
   * Run the pass and add the drawn tokens to the Generator: one message.
   *
   * When it throws, everything is as before and it can be executed again; after it ran, StepConsumedError. Throws
   * InvalidArgumentError for a probe outside the input, EmptyMaskError naming the constraints, ContextBusyError while
   * another step runs, and what `forward.execute` throws.
   * @returns {Promise<Output>}
   */
  async execute() {
    if (this.#consumed) {
      throw new StepConsumedError('step: it was executed already', { hint: 'take the next one from the Generator' });
    }
    this.#consumed = true;
    try {
      return await this.#run(this);
    } catch (error) {
      this.#consumed = false;
      throw error;
    }
  }
}
