/** The items of a reply, in order. */

/** @import { ParsedToolCall } from '../_calls/types.mjs' */

/**
 * `text` is for the reader, `reasoning_*` a block of reasoning, `call_*` a block of tool calls, `control` a control
 * token of no format. After `turn_end` the next token begins another reply.
 * @typedef {{ item: 'text', text: string }
 *   | { item: 'reasoning_start' }
 *   | { item: 'reasoning_text', text: string }
 *   | { item: 'reasoning_end' }
 *   | { item: 'call_start' }
 *   | { item: 'call_end', calls: ParsedToolCall[] }
 *   | { item: 'control', token: number }
 *   | { item: 'turn_end' }} Item
 */

/**
 * Parses the text of a block, delimiters included; [] if it does not parse.
 * @typedef {(text: string) => ParsedToolCall[]} Parse
 */

/**
 * Splits a token stream into items. Every part of the text is in exactly one item.
 * @typedef {object} Scanner
 * @property {(token: number) => Iterable<Item>} feed  The items that one more token completes.
 * @property {() => Iterable<Item>} finish  End the turn as a stop token would.
 */

/** Text in an item of its kind. @param {'text' | 'reasoning_text'} item @param {string} text @returns {Item} */
export const textItem = (item, text) => ({ item, text });

export {};
