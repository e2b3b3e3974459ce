/** @import { Model } from './model.mjs' */
/**
 * Credits this launch owns.
 * @param {Model} model
 */
export function balance(model: Model): number;
/**
 * The clearing price in credits per page per tick.
 * @param {Context} ctx
 */
export function rent(ctx: Context): number;
/**
 * Credits this launch received in the last tick.
 * @param {Model} model
 */
export function dividend(model: Model): number;
/**
 * Seconds per tick, smoothed.
 * @param {Context} ctx
 */
export function latency(ctx: Context): number;
/** Credits for computing one new page. */
export function price(): number;
import type { Model } from './model.mjs';
import { Context } from './context.mjs';
