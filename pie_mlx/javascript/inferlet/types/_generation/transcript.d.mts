/** @import { Model } from '../model.mjs' */
/**
 * The text that a chat decoder gives for the tokens: no reasoning, no tool calls. `before` are those before them.
 *
 * A stop token follows them, because a decoder holds some text back until the end of a turn.
 * @param {Model} model
 * @param {number[]} before
 * @param {Iterable<number>} tokens
 */
export function visibleText(model: Model, before: number[], tokens: Iterable<number>): string;
import type { Model } from '../model.mjs';
