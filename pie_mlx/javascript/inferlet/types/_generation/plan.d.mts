/**
 * Expected remaining tokens of a text, and their variation.
 * @param {SentProspect} prospect
 * @returns {Horizon}
 */
export function prospectAfter({ generated, expected, variation }: SentProspect): Horizon;
/**
 * The horizon of the first bid: that of a long text if neither a horizon nor a limit is known.
 * @param {SentProspect} prospect
 * @returns {Horizon}
 */
export function firstHorizon(prospect: SentProspect): Horizon;
/**
 * What a step is made of: the buffer, what is read, and what restricts, drafts, changes and pays for it.
 * @typedef {object} StepParts
 * @property {ContextHandle} handle
 * @property {number[]} tokens
 * @property {SentSlot[]} slots
 * @property {Sampler} sampler
 * @property {ConstraintSet} constraints
 * @property {NoDrafting} drafting
 * @property {ReadonlySet<number>} stops
 * @property {number} adapter
 * @property {number | bigint} zoSeed
 * @property {SentProspect} prospect
 * @property {boolean} rebids
 * @property {boolean} hasProbes
 * @property {SentOtherContext[]} others
 */
/** The message of one step. */
export class StepPlan {
    /** @param {StepParts} parts */
    constructor(parts: StepParts);
    /**
     * A pass that draws up to `most` tokens, none for 0, of the `remaining` ones, null for no limit.
     * @param {number | null} remaining
     * @param {number} most
     * @returns {SentForward}
     */
    request(remaining: number | null, most: number): SentForward;
    #private;
}
/**
 * What a step is made of: the buffer, what is read, and what restricts, drafts, changes and pays for it.
 */
export type StepParts = {
    handle: ContextHandle;
    tokens: number[];
    slots: SentSlot[];
    sampler: Sampler;
    constraints: ConstraintSet;
    drafting: NoDrafting;
    stops: ReadonlySet<number>;
    adapter: number;
    zoSeed: number | bigint;
    prospect: SentProspect;
    rebids: boolean;
    hasProbes: boolean;
    others: SentOtherContext[];
};
import type { SentProspect } from '../_calls/types.mjs';
import type { Horizon } from '../_context/bidding.mjs';
import type { SentForward } from '../_calls/types.mjs';
import type { ContextHandle } from '../_context/handle.mjs';
import type { SentSlot } from '../_calls/types.mjs';
import type { Sampler } from '../sampler.mjs';
import type { ConstraintSet } from './constraints.mjs';
import type { NoDrafting } from './drafting.mjs';
import type { SentOtherContext } from '../_calls/types.mjs';
