/** @import { Model } from '../model.mjs' */
/** The bytes of each token by its id. @typedef {ReadonlyMap<number, Uint8Array>} Table */
/**
 * The bytes of every token, requested once per model.
 * @param {Model} model
 * @returns {Table}
 */
export function tokenBytes({ name }: Model): Table;
/**
 * The bytes of tokens, one after the other, as text with a character per byte: what no token ends inside of.
 * @param {Table} table
 * @param {Iterable<number>} tokens
 */
export function spelled(table: Table, tokens: Iterable<number>): string;
/**
 * The UTF-8 bytes of a text, with a character per byte.
 * @param {string} text
 */
export function utf8(text: string): string;
/** The text of bytes that `spelled` or `utf8` gave. @param {string} bytes */
export function fromUtf8(bytes: string): string;
/**
 * The bytes of each token by its id.
 */
export type Table = ReadonlyMap<number, Uint8Array>;
import type { Model } from '../model.mjs';
