/**
 * Text of a token stream. Bytes of an unfinished character are held back until it is whole. Ids the tokenizer does not
 * have give no text.
 */
export class Detokenizer {
    /** @param {Table} tokens */
    constructor(tokens: Table);
    /** The text that this token completes. @param {number} token */
    feed(token: number): string;
    /** End the text: a remainder becomes one U+FFFD. The next `feed` begins a new one. */
    finish(): string;
    /** A control token's own text, '' for an id the tokenizer does not have. @param {number} token */
    spell(token: number): string;
    /** `finish`. Throws ModelError for a reply without text whose ids are not the tokenizer's. */
    endReply(): string;
    #private;
}
import type { Table } from './bytes.mjs';
