/**
 * Expected remaining tokens, and the squared coefficient of variation of that number.
 * @typedef {[number, number]} Horizon
 */
/**
 * How long and how much a context's pages are worth while it does nothing: `priority` times what computing them again
 * costs, for `ttlSeconds` (an hour at most; 0 ends it). With `prepaid`, the launch pays now: the make cost of the pages
 * for each 300 seconds, or for as long as its credits last.
 * @typedef {{ priority?: number, ttlSeconds?: number, prepaid?: boolean }} RetainOptions
 */
/** @type {Horizon} */
export const UNKNOWN_HORIZON: Horizon;
/** The bids of one context. */
export class Bidding {
    /** @param {number} context */
    constructor(context: number);
    /** How many idle scopes are open. */
    get idleDepth(): number;
    /**
     * Declare a bid by hand; returns the one in effect. Throws InvalidArgumentError for NaN and Infinity.
     * @param {number} bid
     */
    set(bid: number): number;
    /**
     * A Generator starts: the automatic bid replaces an override.
     * @param {Horizon} horizon
     */
    prime(horizon: Horizon): void;
    /** The automatic bid of a pass outside Generators; null leaves the bid alone. */
    forRawPass(): Horizon | null;
    /** Whether the bid in effect is for the next pass only: one set by hand. */
    get servesOnePass(): boolean;
    /**
     * The automatic bid of a Generator's step; null leaves the bid alone.
     * @param {Horizon} horizon
     * @param {boolean} rebid
     */
    forStep(horizon: Horizon, rebid: boolean): Horizon | null;
    /** A Generator's step ran: an override has served its one pass. */
    stepDone(): void;
    /** Bid 0 until the scope closes. */
    enterIdle(): void;
    /**
     * Close a scope; the outermost one restores the override, else makes a new automatic bid.
     * @param {boolean} hasPages
     */
    leaveIdle(hasPages: boolean): void;
    #private;
}
/**
 * Expected remaining tokens, and the squared coefficient of variation of that number.
 */
export type Horizon = [number, number];
/**
 * How long and how much a context's pages are worth while it does nothing: `priority` times what computing them again
 * costs, for `ttlSeconds` (an hour at most; 0 ends it). With `prepaid`, the launch pays now: the make cost of the pages
 * for each 300 seconds, or for as long as its credits last.
 */
export type RetainOptions = {
    priority?: number;
    ttlSeconds?: number;
    prepaid?: boolean;
};
