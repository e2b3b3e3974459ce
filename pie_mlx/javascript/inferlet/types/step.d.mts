
/**
 * The next pass of a Generator, not run yet. A step that is never executed changes nothing; asking for the next one
 * then throws InvalidArgumentError, unless tokens were accepted.
 */
export class GenStep {
    private constructor();
    /** Draw nothing in this step: read probes and choose with `generator.accept`. */
    clearSampler(): this;
    /**
     * Read the distribution at one input of this step: 0-based, -1 is the last.
     * @param {number} index
     * @param {Probe} probe
     */
    probe(index: number, probe: Probe): ProbeHandle;
    /**
     * Let the engine draw up to `n` tokens in one step, as long as it does not need the program: no probe, no constraint
     * or speculator of the program's own, no bid set by hand. Stops and limits apply as usual. Throws
     * InvalidArgumentError below 1.
     * @param {number} n
     */
    upTo(n: number): this;
    /**
     * Run the pass and add the drawn tokens to the Generator: one message.
     *
     * When it throws, everything is as before and it can be executed again; after it ran, StepConsumedError. Throws
     * InvalidArgumentError for a probe outside the input, EmptyMaskError naming the constraints, ContextBusyError while
     * another step runs, and what `forward.execute` throws.
     * @returns {Promise<Output>}
     */
    execute(): Promise<Output>;
    #private;
}
/**
 * A probe, the handle that names it and the input that it reads.
 */
export type AttachedProbe = {
    handle: ProbeHandle;
    index: number;
    probe: Probe;
};
/**
 * `kept` tokens are emitted; `fed` tokens go to the constraints: the kept ones and the stop that ended them.
 */
export type Cut = {
    kept: number[];
    fed: number[];
};
import type { Sampler } from './sampler.mjs';
import { PassSlots } from './output.mjs';
import { SampleHandle } from './output.mjs';
import { InvalidArgumentError } from './errors.mjs';
import type { Probe } from './sampler.mjs';
import { ProbeHandle } from './output.mjs';
import type { Output } from './output.mjs';
