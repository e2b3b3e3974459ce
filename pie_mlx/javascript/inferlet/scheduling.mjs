/** Figures of the page market, as of its latest settlement. */

import { kindOf } from './_calls/checks.mjs';
import { callNow } from './_calls/host.mjs';
import { Context } from './context.mjs';
import { InvalidTypeError } from './errors.mjs';
import { checkedModel } from './model.mjs';

/** @import { Model } from './model.mjs' */

/**
 * Credits this launch owns.
 * @param {Model} model
 */
export function balance(model) {
  checkedModel(model);
  return callNow('read_market', { model: model.name }).balance;
}

/**
 * The clearing price in credits per page per tick.
 * @param {Context} ctx
 */
export function rent(ctx) {
  return read(ctx).rent;
}

/**
 * Credits this launch received in the last tick.
 * @param {Model} model
 */
export function dividend(model) {
  checkedModel(model);
  return callNow('read_market', { model: model.name }).dividend;
}

/**
 * Seconds per tick, smoothed.
 * @param {Context} ctx
 */
export function latency(ctx) {
  return read(ctx).latency_seconds;
}

/** Credits for computing one new page. */
export function price() {
  return callNow('read_market', {}).page_price;
}

/** @param {Context} ctx */
function read(ctx) {
  if (ctx instanceof Context) return callNow('read_market', { context: ctx.id });
  throw new InvalidTypeError(`context: got ${kindOf(ctx)}`, { hint: 'pass a Context' });
}
