/** The visible text of generated tokens. */

import { Decoder } from '../chat.mjs';

/** @import { Model } from '../model.mjs' */

/**
 * The text that a chat decoder gives for the tokens: no reasoning, no tool calls. `before` are those before them.
 *
 * A stop token follows them, because a decoder holds some text back until the end of a turn.
 * @param {Model} model
 * @param {number[]} before
 * @param {Iterable<number>} tokens
 */
export function visibleText(model, before, tokens) {
  const decoder = new Decoder(model);
  let [finished, current] = ['', ''];
  let event = decoder.feed([...before, ...tokens, ...model.info.formats.stop_tokens.slice(0, 1)]);
  for (; event.type !== 'idle'; event = decoder.feed([])) {
    if (event.type === 'delta') current += event.text;
    else if (event.type === 'done') [finished, current] = [finished + event.text, ''];
  }
  return finished + current;
}
