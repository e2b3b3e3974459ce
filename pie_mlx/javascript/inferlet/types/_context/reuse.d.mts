/**
 * Those of two prompts; the miss is that of the later one, if it has one.
 * @param {Readonly<Reuse>} earlier
 * @param {Readonly<Reuse>} later
 * @returns {Readonly<Reuse>}
 */
export function addReuse(earlier: Readonly<Reuse>, later: Readonly<Reuse>): Readonly<Reuse>;
/** How the tokens of prompts came to have KV. */
/** @import { Reuse } from '../_calls/types.mjs' */
/** @type {Readonly<Reuse>} */
export const NO_REUSE: Readonly<Reuse>;
import type { Reuse } from '../_calls/types.mjs';
