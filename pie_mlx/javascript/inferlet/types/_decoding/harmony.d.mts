/** A scanner. The channel `analysis` is reasoning, a message to a function is a call, everything else is text. */
export class HarmonyScanner {
    /** @param {Formats} formats @param {Table} tokens @param {Parse} parse */
    constructor(formats: Formats, tokens: Table, parse: Parse);
    /** @param {number} token @returns {Generator<Item>} */
    feed(token: number): Generator<Item>;
    /** @returns {Generator<Item>} */
    finish(): Generator<Item>;
    #private;
}
import type { Item } from './items.mjs';
import type { Formats } from '../_calls/types.mjs';
import type { Table } from './bytes.mjs';
import type { Parse } from './items.mjs';
