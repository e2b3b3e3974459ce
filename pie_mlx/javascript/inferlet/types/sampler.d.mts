/** The row itself: vocabulary float32 values before temperature and masks, read by `out.logits`. */
export function Logits(): Probe;
/**
 * The `k` most likely tokens and their share of the full softmax, read by `out.distribution`; `k` 0 is the whole
 * vocabulary.
 * @param {number} [temperature]
 * @param {number} [k]
 */
export function Distribution(temperature?: number, k?: number): Probe;
/**
 * The natural log-probability of one token at temperature 1, read by `out.logprobs`.
 * @param {number} token
 */
export function Logprob(token: number): Probe;
/**
 * The natural log-probabilities of several tokens at temperature 1, in the order given, read by `out.logprobs`.
 * @param {Iterable<number>} tokens
 */
export function Logprobs(tokens: Iterable<number>): Probe;
/** The entropy of the row at temperature 1, in nats, read by `out.entropy`. */
export function Entropy(): Probe;
/** The row's final hidden state, after the last norm, read by `out.hiddenState`. */
export function HiddenState(): Probe;
/**
 * The mean of the final hidden states of a pass's own inputs, from the probe's input to the last, read by
 * `out.hiddenState`. A pass that reads it reads nothing else.
 */
export function HiddenMean(): Probe;
/**
 * How much attention the last `rows` inputs up to the probe's own, at most 64, pay to each page of the context: the sum
 * over the rows, as a mean over the query heads of all attention layers; `byGroup` for each KV head of each layer. Read
 * by `out.attentionScores`.
 * @param {{ rows?: number, byGroup?: boolean }} [options]
 */
export function AttentionScores({ rows, byGroup }?: {
    rows?: number;
    byGroup?: boolean;
}): Probe;
/** @param {unknown} sampler @returns {Sampler} */
export function checkedSampler(sampler: unknown): Sampler;
/** @param {unknown} probe @returns {Probe} */
export function checkedProbe(probe: unknown): Probe;
/** A sampler that draws one token. @param {unknown} sampler */
export function singleDraw(sampler: unknown): Sampler;
/**
 * A seed makes the draws the same each time; without one they come from the context's own random stream.
 * @typedef {{ seed?: number | bigint }} SeedOptions
 */
/**
 * How logits change before a draw. `frequency` and `presence` are OpenAI's: they count the tokens that were generated.
 * `repetition` is Hugging Face's: it counts the prompt as well. `bias` is added to the logits of token ids. A Generator
 * counts from its own beginning, unless `since` names a slot.
 * @typedef {object} Penalties
 * @property {number} [frequency]
 * @property {number} [presence]
 * @property {number} [repetition]
 * @property {ReadonlyMap<number, number> | Record<number, number>} [bias]
 * @property {number} [since]
 */
/**
 * How a token is drawn. Every filter acts on the unfiltered probabilities and keeps at least one token. Throws
 * InvalidTypeError for anything but a number, InvalidArgumentError for one outside its range.
 */
export class Sampler {
    /** The largest logit; ties go to the lowest id. */
    static argmax(): Sampler;
    /**
     * A draw from the shortest prefix of the sorted tokens whose mass reaches `p`.
     * @param {number} [temperature]
     * @param {number} [p]
     * @param {SeedOptions} [options]
     */
    static topP(temperature?: number, p?: number, options?: SeedOptions): Sampler;
    /**
     * A draw from the `k` most likely tokens.
     * @param {number} [temperature]
     * @param {number} [k]
     * @param {SeedOptions} [options]
     */
    static topK(temperature?: number, k?: number, options?: SeedOptions): Sampler;
    /**
     * A draw from the tokens at least `p` times as likely as the most likely one.
     * @param {number} [temperature]
     * @param {number} [p]
     * @param {SeedOptions} [options]
     */
    static minP(temperature?: number, p?: number, options?: SeedOptions): Sampler;
    /**
     * Both filters, each on the unfiltered probabilities.
     * @param {number} [temperature]
     * @param {number} [k]
     * @param {number} [p]
     * @param {SeedOptions} [options]
     */
    static topKTopP(temperature?: number, k?: number, p?: number, options?: SeedOptions): Sampler;
    /**
     * `draws` independent draws from the whole distribution.
     * @param {number} [temperature]
     * @param {number} [draws]
     * @param {SeedOptions} [options]
     */
    static multinomial(temperature?: number, draws?: number, options?: SeedOptions): Sampler;
    private constructor();
    /**
     * The same draws from logits with penalties.
     * @param {Penalties} penalties
     */
    penalized({ frequency, presence, repetition, bias, since }?: Penalties): Sampler;
    /** The same draws, each with its log-probability: `out.logprobs(handle)` and `generator.score`. */
    scored(): Sampler;
    /**
     * The same draws from logits that a rule changed first: `Sampler.multinomial().ruled(rules.minP({ p: 0.1 }))`. A rule with
     * states draws one token at a time. Throws InvalidTypeError for anything but a rule that was called.
     * @param {RuleUse | undefined} rule
     */
    ruled(rule: RuleUse | undefined): Sampler;
    /** What it was `ruled` by; its `state` is what the next draw gets. */
    get rule(): RuleUse | undefined;
    /**
     * The sampler of the next token, whose rule is given the states that the last draw left: `output.states(handle).at(-1)`.
     * @param {readonly number[]} states
     */
    after(states: readonly number[]): Sampler;
    /** Whether it takes the largest logit. */
    get isArgmax(): boolean;
}
/**
 * A reading of one row of logits: `Logits()`, `Distribution(...)`, `Logprob(...)`, `Logprobs(...)`, `Entropy()`,
 * `HiddenState()`, `HiddenMean()` or `AttentionScores()`.
 */
export class Probe {
    private constructor();
}
/**
 * A seed makes the draws the same each time; without one they come from the context's own random stream.
 */
export type SeedOptions = {
    seed?: number | bigint;
};
/**
 * How logits change before a draw. `frequency` and `presence` are OpenAI's: they count the tokens that were generated.
 * `repetition` is Hugging Face's: it counts the prompt as well. `bias` is added to the logits of token ids. A Generator
 * counts from its own beginning, unless `since` names a slot.
 */
export type Penalties = {
    frequency?: number | undefined;
    presence?: number | undefined;
    repetition?: number | undefined;
    bias?: ReadonlyMap<number, number> | Record<number, number> | undefined;
    since?: number | undefined;
};
import type { SentSampler } from './_calls/types.mjs';
import type { RuleUse } from './_rules/use.mjs';
import type { SentSlot } from './_calls/types.mjs';
