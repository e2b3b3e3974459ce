/**
 * The turn that a token array writes. `ctx.append` renders it again at its point of the conversation, so that the
 * joints (a pending line break, a begin-of-sequence that is not repeated) are as in the template.
 * @param {unknown} tokens
 */
export function turnOf(tokens: unknown): SentTurn | undefined;
/**
 * The turn after `state`, with everything the template would write later. Throws TemplateError.
 * @param {Model} model
 * @param {SentTurn} turn
 * @param {SentChatState} state
 * @returns {Uint32Array}
 */
export function writeTurn(model: Model, turn: SentTurn, state: SentChatState): Uint32Array;
import type { SentTurn } from '../_calls/types.mjs';
import type { Model } from '../model.mjs';
import type { SentChatState } from '../_calls/types.mjs';
