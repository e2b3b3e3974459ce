/** @type {Readonly<PendingInput>} */
export const NOTHING_PENDING: Readonly<PendingInput>;
/** The pending buffer of one context. */
export class PendingBuffer {
    /** @param {ContextHandle} handle @param {Readonly<PendingInput>} pending */
    constructor(handle: ContextHandle, pending: Readonly<PendingInput>);
    /** @type {number[]} */
    tokens: number[];
    /** A stop token has ended the text, and nothing was buffered since. */
    stopped: boolean;
    /** Buffer a turn as the model's template writes it. Throws TemplateError. @param {SentTurn} turn */
    render(turn: SentTurn): void;
    /** The text the reply to the cue opens with before its answer; '' for none, or once tokens follow the cue. */
    get answerOpening(): string;
    /** The tokens that a decoder must see first to continue in the reply. */
    get decoderPrefix(): number[];
    /** Buffer the turns that were held back. */
    releaseHeld(): void;
    /**
     * Buffer raw tokens after everything held back. The conversation after them counts as begun, and the separator that
     * the last turn owed is dropped.
     * @param {number[]} tokens
     */
    append(tokens: number[]): void;
    /** `append` the tokens of a text. @param {string} text */
    appendText(text: string): void;
    /** Buffer everything held back, including the end of the last turn, because raw tokens follow. */
    endTurn(): void;
    /**
     * Buffer tokens of the turn that is being written; the first `inKv` of them are in KV already.
     * @param {number[]} tokens
     * @param {number} [inKv]
     */
    appendToTurn(tokens: number[], inKv?: number): void;
    /**
     * Throw if another pass of this context has taken the buffer, or a text that has not `begun` has no token to go on
     * from. One that a stop token has ended has none for a reason.
     * @param {boolean} begun
     */
    checkEmpty(begun: boolean): void;
    /** Empty the buffer, held turns included. */
    drain(): number[];
    /** Put drained tokens back, before anything buffered since. @param {number[]} tokens */
    giveBack(tokens: number[]): void;
    /** A copy, as a value. @returns {PendingInput} */
    snapshot(): PendingInput;
    /** Return to a snapshot. @param {Readonly<PendingInput>} pending */
    restore(pending: Readonly<PendingInput>): void;
    #private;
}
import type { PendingInput } from '../_calls/types.mjs';
import type { SentTurn } from '../_calls/types.mjs';
import type { ContextHandle } from './handle.mjs';
