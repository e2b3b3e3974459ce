export function textItem(item: "text" | "reasoning_text", text: string): Item;
/**
 * `text` is for the reader, `reasoning_*` a block of reasoning, `call_*` a block of tool calls, `control` a control
 * token of no format. After `turn_end` the next token begins another reply.
 */
export type Item = {
    item: "text";
    text: string;
} | {
    item: "reasoning_start";
} | {
    item: "reasoning_text";
    text: string;
} | {
    item: "reasoning_end";
} | {
    item: "call_start";
} | {
    item: "call_end";
    calls: ParsedToolCall[];
} | {
    item: "control";
    token: number;
} | {
    item: "turn_end";
};
/**
 * Parses the text of a block, delimiters included; [] if it does not parse.
 */
export type Parse = (text: string) => ParsedToolCall[];
/**
 * Splits a token stream into items. Every part of the text is in exactly one item.
 */
export type Scanner = {
    /**
     * The items that one more token completes.
     */
    feed: (token: number) => Iterable<Item>;
    /**
     * End the turn as a stop token would.
     */
    finish: () => Iterable<Item>;
};
import type { ParsedToolCall } from '../_calls/types.mjs';
