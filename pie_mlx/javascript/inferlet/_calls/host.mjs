/** The engine this program runs beside. */

import * as link from '../../link/host.mjs';
import { COMPLETE } from './complete.mjs';

/** @import { Calls } from './types.mjs' */

/**
 * What carries calls: promises, calls that block, and calls nobody waits for.
 * @typedef {object} Host
 * @property {(name: any, fields: any, signal?: AbortSignal) => Promise<any>} call
 * @property {(name: any, fields: any) => any} callNow
 * @property {(name: any, fields: any) => void} post
 */

/** @type {Host} */
let host = link;

/** @type {Map<string, any>} */
const known = new Map();

/**
 * Makes another host carry the calls, for tests.
 * @param {Host} other
 */
export function replaceHost(other) {
  host = other;
  known.clear();
}

/**
 * What this program remembers of the engine by a name, made when it is first asked for.
 * @template T
 * @param {string} name
 * @param {() => T} make
 * @returns {T}
 */
export function remembered(name, make) {
  if (!known.has(name)) known.set(name, make());
  return known.get(name);
}

/**
 * A promise of the reply. Rejects with the engine's error. Aborting `signal` withdraws the call.
 * @template {keyof Calls} N
 * @param {N} name
 * @param {Calls[N]['fields']} fields
 * @param {AbortSignal} [signal]
 * @returns {Promise<Calls[N]['reply']>}
 */
export async function call(name, fields, signal) {
  return completed(name, await host.call(name, fields, signal));
}

/**
 * The reply; blocks until it is there. Throws the engine's error.
 * @template {keyof Calls} N
 * @param {N} name
 * @param {Calls[N]['fields']} fields
 * @returns {Calls[N]['reply']}
 */
export function callNow(name, fields) {
  return completed(name, host.callNow(name, fields));
}

/**
 * Makes a call without waiting for it; its errors are dropped. It arrives before everything sent later.
 * @template {keyof Calls} N
 * @param {N} name
 * @param {Calls[N]['fields']} fields
 */
export function post(name, fields) {
  host.post(name, fields);
}

/** @type {FinalizationRegistry<() => void>} */
const registry = new FinalizationRegistry((release) => release());

/**
 * Calls `release` once `owner` is garbage. It must not refer to the owner.
 * @param {object} owner
 * @param {() => void} release
 */
export function whenCollected(owner, release) {
  registry.register(owner, release, owner);
}

/**
 * Forgets `whenCollected` of an owner that was released by hand.
 * @param {object} owner
 */
export function forgetOwner(owner) {
  registry.unregister(owner);
}

/** @param {string} name @param {any} reply */
function completed(name, reply) {
  const complete = COMPLETE[name];
  return complete === undefined ? reply : complete(reply);
}
