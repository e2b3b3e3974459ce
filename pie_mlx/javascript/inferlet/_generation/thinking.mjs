/** How many tokens a model may think before it answers. */

import { Grammar } from '../grammar.mjs';

/** @import { Formats } from '../_calls/types.mjs' */

const NEXT_MESSAGE = '<|end|><|start|>assistant';

/**
 * Any text whose thoughts take at most `tokens`; undefined for a model without thoughts. `cued`: the cue was just
 * written, so that a thought is open where the cue opens one.
 * @param {Formats} formats
 * @param {number} tokens
 * @param {boolean} cued
 */
export function thoughtLimit({ reasoning, channels, answer_opening: answer }, tokens, cued) {
  if (channels) {
    const [opening, closing] = ['<|channel|>analysis<|message|>', '<|end|>'];
    return new Grammar({ kind: 'thought', limit: { tokens, opening, closing, again: NEXT_MESSAGE + answer } });
  }
  if (reasoning === null) return undefined;
  const { opening, closing, opened_by_cue: opened } = reasoning;
  return new Grammar({ kind: 'thought', limit: { tokens, opening, closing, is_open: cued && opened } });
}
