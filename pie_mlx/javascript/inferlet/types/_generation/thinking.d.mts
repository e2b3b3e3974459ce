/**
 * Any text whose thoughts take at most `tokens`; undefined for a model without thoughts. `cued`: the cue was just
 * written, so that a thought is open where the cue opens one.
 * @param {Formats} formats
 * @param {number} tokens
 * @param {boolean} cued
 */
export function thoughtLimit({ reasoning, channels, answer_opening: answer }: Formats, tokens: number, cued: boolean): Grammar | undefined;
import type { Formats } from '../_calls/types.mjs';
import { Grammar } from '../grammar.mjs';
