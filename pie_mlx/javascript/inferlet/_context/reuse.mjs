/** How the tokens of prompts came to have KV. */

/** @import { Reuse } from '../_calls/types.mjs' */

/** @type {Readonly<Reuse>} */
export const NO_REUSE = Object.freeze({ from_memory: 0, from_disk: 0, replayed: 0, computed: 0, miss: null });

/**
 * Those of two prompts; the miss is that of the later one, if it has one.
 * @param {Readonly<Reuse>} earlier
 * @param {Readonly<Reuse>} later
 * @returns {Readonly<Reuse>}
 */
export function addReuse(earlier, later) {
  return Object.freeze({
    from_memory: earlier.from_memory + later.from_memory,
    from_disk: earlier.from_disk + later.from_disk,
    replayed: earlier.replayed + later.replayed,
    computed: earlier.computed + later.computed,
    miss: later.miss ?? earlier.miss,
  });
}
