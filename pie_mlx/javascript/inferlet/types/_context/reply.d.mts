/**
 * The lead after `tokens`; [] at the beginning of a reply.
 * @param {Model} model
 * @param {number[]} lead
 * @param {number[]} tokens
 */
export function extendedLead(model: Model, lead: number[], tokens: number[]): number[];
/**
 * The tokens to feed a decoder before it continues after `lead`. None of them is visible text.
 * @param {Model} model
 * @param {number[]} lead
 * @returns {number[]}
 */
export function decoderPrefix(model: Model, lead: number[]): number[];
/**
 * The tool that the message with the header `lead` calls; '' for any other message.
 * @param {Model} model
 * @param {number[]} lead
 */
export function calledTool(model: Model, lead: number[]): string;
/**
 * The text after the opening of the answer, in a whole reply to a cue; '' where there is none. The text was generated
 * under a grammar, so it has no control token.
 * @param {Model} model
 * @param {number[]} tokens
 */
export function answerText(model: Model, tokens: number[]): string;
import type { Model } from '../model.mjs';
