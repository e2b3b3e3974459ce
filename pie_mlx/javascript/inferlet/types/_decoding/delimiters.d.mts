/** A scanner. It finds delimiters in the text, so one may be a token, several tokens, or part of one. */
export class DelimiterScanner {
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
