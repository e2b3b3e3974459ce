/**
 * What drafts for a Generator. Throws InvalidArgumentError for two of them, SpeculationError, InvalidTypeError.
 * @param {{ speculator?: Speculator, systemSpeculation?: boolean, speculation?: DraftSourceName }} options
 * @param {number} vocabularySize
 */
export function draftingOf({ speculator, systemSpeculation, speculation }: {
    speculator?: Speculator;
    systemSpeculation?: boolean;
    speculation?: DraftSourceName;
}, vocabularySize: number): NoDrafting;
/** @import { SentSpeculation } from '../_calls/types.mjs' */
/** Stands for no limit of drafts, or of tokens in a step: more than there can be. */
export const NO_LIMIT: number;
/**
 * Guessed tokens and their absolute positions; the third, if there is one, makes a tree of them: for each draft the
 * index of the earlier draft it follows, -1 for none.
 * @typedef {readonly [tokens: Iterable<number>, positions: Iterable<number>, parents?: Iterable<number>]} Drafts
 */
/**
 * Guesses the next tokens so that several can be verified in one pass.
 *
 * `draft` gives guessed tokens and their absolute positions; two empty arrays for a plain step. The first draft's
 * position is the number of tokens in the context, buffer included; each further one comes next. `accept` gets the
 * tokens that the pass produced, before stops and limits cut them; `rollback` how many of the drafted tokens were
 * wrong, or were not verified. `reset` is called once when attached: forget everything.
 * @typedef {object} Speculator
 * @property {() => Drafts} draft
 * @property {(tokens: Uint32Array) => void} accept
 * @property {(n: number) => void} rollback
 * @property {() => void} reset
 */
/** Every step is plain. */
export class NoDrafting {
    /** Whether every step needs the program. */
    get needsProgram(): boolean;
    /** Called when the prompt is in the buffer. Throws SpeculationError. */
    attach(): void;
    /** Throws SpeculationError for a failure since the last draft. */
    check(): void;
    /**
     * At most `limit` drafts from `position` on, null for a plain step. Throws SpeculationError.
     * @param {number} _position
     * @param {number} _limit
     * @param {Iterable<number>} _stopTokens
     * @returns {SentSpeculation | null}
     */
    draft(_position: number, _limit: number, _stopTokens: Iterable<number>): SentSpeculation | null;
    /** Report the produced tokens; the first was not a draft. @param {number[]} _tokens */
    recordProduced(_tokens: number[]): void;
}
/** The engine drafts. */
export class SystemDrafting extends NoDrafting {
    /** @param {DraftSourceName} source */
    constructor(source: DraftSourceName);
    /**
     * @override
     * @param {number} _position
     * @param {number} limit
     * @param {Iterable<number>} stopTokens
     * @returns {SentSpeculation}
     */
    override draft(_position: number, limit: number, stopTokens: Iterable<number>): SentSpeculation;
    #private;
}
/** A Speculator drafts. When it fails after a pass, `check` throws before the next one, so the pass is not lost. */
export class ProgramDrafting extends NoDrafting {
    /** @param {Speculator} speculator @param {number} vocabularySize */
    constructor(speculator: Speculator, vocabularySize: number);
    #private;
}
/**
 * Guessed tokens and their absolute positions; the third, if there is one, makes a tree of them: for each draft the
 * index of the earlier draft it follows, -1 for none.
 */
export type Drafts = readonly [tokens: Iterable<number>, positions: Iterable<number>, parents?: Iterable<number>];
/**
 * Guesses the next tokens so that several can be verified in one pass.
 *
 * `draft` gives guessed tokens and their absolute positions; two empty arrays for a plain step. The first draft's
 * position is the number of tokens in the context, buffer included; each further one comes next. `accept` gets the
 * tokens that the pass produced, before stops and limits cut them; `rollback` how many of the drafted tokens were
 * wrong, or were not verified. `reset` is called once when attached: forget everything.
 */
export type Speculator = {
    draft: () => Drafts;
    accept: (tokens: Uint32Array) => void;
    rollback: (n: number) => void;
    reset: () => void;
};
/**
 * Who drafts in the engine: text that repeats, the model's own draft head, a smaller model, a grammar, or the one that
 * has earned most.
 */
export type DraftSourceName = "auto" | "ngram" | "mtp" | "draft_model" | "grammar";
import type { SentSpeculation } from '../_calls/types.mjs';
