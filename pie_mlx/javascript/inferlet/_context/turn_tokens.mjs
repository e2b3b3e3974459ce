/** Token arrays that know which turn of a conversation they write. */

import { callNow } from '../_calls/host.mjs';
import { checkedModel } from '../model.mjs';

/** @import { ChatState, SentChatState, SentTurn } from '../_calls/types.mjs' */
/** @import { Model } from '../model.mjs' */

/** @type {WeakMap<object, SentTurn>} */
const turns = new WeakMap();

/**
 * The turn that a token array writes. `ctx.append` renders it again at its point of the conversation, so that the
 * joints (a pending line break, a begin-of-sequence that is not repeated) are as in the template.
 * @param {unknown} tokens
 */
export function turnOf(tokens) {
  return typeof tokens === 'object' && tokens !== null ? turns.get(tokens) : undefined;
}

/**
 * The turn after `state`, with everything the template would write later. Throws TemplateError.
 * @param {Model} model
 * @param {SentTurn} turn
 * @param {SentChatState} state
 * @returns {Uint32Array}
 */
export function writeTurn(model, turn, state) {
  const { name, template } = checkedModel(model);
  const rendered = callNow('render_turn', { model: name, turn, state, template });
  const tokens = Uint32Array.from([...rendered.tokens, ...later(name, template, rendered.state)]);
  turns.set(tokens, turn);
  return tokens;
}

/** @param {string} model @param {string} template @param {ChatState} state */
function later(model, template, state) {
  if (state.held.length > 0) return callNow('render_turn', { model, turn: { role: 'flush' }, state, template }).tokens;
  return state.due === '' ? [] : callNow('encode', { model, text: state.due });
}
