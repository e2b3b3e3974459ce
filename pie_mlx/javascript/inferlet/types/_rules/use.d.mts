/** @param {unknown} use @returns {RuleUse} */
export function checkedUse(use: unknown): RuleUse;
/**
 * The operations of a rule: `answer` is the place of the new logits, `states` have names and places, `until` is the
 * place of the condition that ends the text, `others` are the names of the contexts whose rows it reads. Repetitions end
 * at the tokens of `breakers`. `arrays` are those of the operations that name one; `version` 2 has vectors.
 * @typedef {object} RuleGraph
 * @property {Node[]} nodes
 * @property {number} answer
 * @property {[string, number][]} states
 * @property {number} candidates
 * @property {number | null} until
 * @property {string} name
 * @property {string[]} others
 * @property {number[]} breakers
 * @property {RuleArray[]} arrays
 * @property {number} version
 */
/** What `sampler.ruled` takes, made by calling a rule. `code` is its graph in msgpack. */
export class RuleUse {
    private constructor();
    code: Uint8Array<ArrayBufferLike>;
    parameters: Readonly<Record<string, number>>;
    state: Readonly<Record<string, number>>;
    vectors: Readonly<Record<string, Uint8Array<ArrayBufferLike>>>;
    /** The names of the other contexts whose rows it reads. */
    get others(): string[];
    /**
     * With tokens at which repetitions end, such as line breaks, at most 256: `row.repeated` is 0 for them, and finds no
     * repetition that has one. Throws InvalidTypeError for what is no array of whole numbers.
     * @param {Iterable<number>} tokens
     */
    brokenAt(tokens: Iterable<number>): RuleUse;
    /**
     * For the next token: with the values of the states, in their order.
     * @param {readonly number[]} states
     */
    after(states: readonly number[]): RuleUse;
    #private;
}
/**
 * The operations of a rule: `answer` is the place of the new logits, `states` have names and places, `until` is the
 * place of the condition that ends the text, `others` are the names of the contexts whose rows it reads. Repetitions end
 * at the tokens of `breakers`. `arrays` are those of the operations that name one; `version` 2 has vectors.
 */
export type RuleGraph = {
    nodes: Node[];
    answer: number;
    states: [string, number][];
    candidates: number;
    until: number | null;
    name: string;
    others: string[];
    breakers: number[];
    arrays: RuleArray[];
    version: number;
};
import type { Node } from './values.mjs';
import type { RuleArray } from './weights.mjs';
