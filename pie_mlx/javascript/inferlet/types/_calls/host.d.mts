/**
 * Makes another host carry the calls, for tests.
 * @param {Host} other
 */
export function replaceHost(other: Host): void;
/**
 * What this program remembers of the engine by a name, made when it is first asked for.
 * @template T
 * @param {string} name
 * @param {() => T} make
 * @returns {T}
 */
export function remembered<T>(name: string, make: () => T): T;
/**
 * A promise of the reply. Rejects with the engine's error. Aborting `signal` withdraws the call.
 * @template {keyof Calls} N
 * @param {N} name
 * @param {Calls[N]['fields']} fields
 * @param {AbortSignal} [signal]
 * @returns {Promise<Calls[N]['reply']>}
 */
export function call<N extends keyof Calls>(name: N, fields: Calls[N]["fields"], signal?: AbortSignal): Promise<Calls[N]["reply"]>;
/**
 * The reply; blocks until it is there. Throws the engine's error.
 * @template {keyof Calls} N
 * @param {N} name
 * @param {Calls[N]['fields']} fields
 * @returns {Calls[N]['reply']}
 */
export function callNow<N extends keyof Calls>(name: N, fields: Calls[N]["fields"]): Calls[N]["reply"];
/**
 * Makes a call without waiting for it; its errors are dropped. It arrives before everything sent later.
 * @template {keyof Calls} N
 * @param {N} name
 * @param {Calls[N]['fields']} fields
 */
export function post<N extends keyof Calls>(name: N, fields: Calls[N]["fields"]): void;
/**
 * Calls `release` once `owner` is garbage. It must not refer to the owner.
 * @param {object} owner
 * @param {() => void} release
 */
export function whenCollected(owner: object, release: () => void): void;
/**
 * Forgets `whenCollected` of an owner that was released by hand.
 * @param {object} owner
 */
export function forgetOwner(owner: object): void;
/**
 * What carries calls: promises, calls that block, and calls nobody waits for.
 */
export type Host = {
    call: (name: any, fields: any, signal?: AbortSignal) => Promise<any>;
    callNow: (name: any, fields: any) => any;
    post: (name: any, fields: any) => void;
};
import type { Calls } from './types.mjs';
