/**
 * Lowers tokens that would make a repetition of n tokens longer by multiplier·base^(n - allowed), from n = allowed on
 * (p-e-w 2024, text-generation-webui 5677). It looks at `row.repeated`, which ends at the sequence `breakers`, at most 256
 * tokens: those of a line break, a colon, a quotation mark or an asterisk there.
 * @param {{ multiplier?: number, base?: number, allowed?: number, breakers?: Iterable<number> }} [parameters]
 */
export function dry({ multiplier, base, allowed, breakers }?: {
    multiplier?: number;
    base?: number;
    allowed?: number;
    breakers?: Iterable<number>;
}): import("./_rules/use.mjs").RuleUse;
/**
 * Think more here: where the entropy exceeds `nats`, the logit of `token` is `bonus` above the largest; once drawn, not
 * again for `pause` tokens. With the token of "Wait" this is the budget forcing of Muennighoff et al. 2025 (arXiv
 * 2501.19393), where the model is unsure.
 * @param {{ token: number, nats?: number, bonus?: number, pause?: number }} parameters
 */
export function entropyGate({ token, nats, bonus, pause }: {
    token: number;
    nats?: number;
    bonus?: number;
    pause?: number;
}): import("./_rules/use.mjs").RuleUse;
/**
 * Cuts tokens that surprise by more than `mu` bits, and moves `mu` at the given `rate` so that the text surprises by `tau`
 * bits a token (Basu et al. 2021, arXiv 2007.14966, version 2). `mu` begins at 2·tau. Give the sampler temperature 1.
 * @param {{ tau?: number, rate?: number, mu?: number }} [parameters]
 */
export function mirostat({ tau, rate, mu }?: {
    tau?: number;
    rate?: number;
    mu?: number;
}): import("./_rules/use.mjs").RuleUse;
/**
 * The answer that most texts of one prompt agree on, and its share (self-consistency, Wang et al. 2022, arXiv
 * 2203.11171). The first of equally many wins; undefined and null abstain. Throws InvalidArgumentError where all do.
 * @template T
 * @param {Iterable<T | null | undefined>} answers
 * @returns {[NonNullable<T>, number]}
 */
export function vote<T>(answers: Iterable<T | null | undefined>): [NonNullable<T>, number];
/**
 * The share of green tokens in a text of at least two tokens, each after the one before it: about `gamma` without a
 * watermark of this key.
 * `watermarkZScore` says whether that is chance.
 * @param {Iterable<number>} tokens
 * @param {number} key
 * @param {number} [gamma]
 */
export function greenShare(tokens: Iterable<number>, key: number, gamma?: number): number;
/**
 * By how many standard deviations a text has more green tokens than one without a watermark of this `key` (Kirchenbauer et
 * al. 2023, arXiv 2301.10226, equation 3). Above 4, chance is ruled out: 3 texts in 100,000 get there.
 *
 * A token counts once after each other one: a text that repeats itself has no more evidence (Fernandez et al. 2023, arXiv
 * 2308.00113). Throws InvalidArgumentError for fewer than two tokens.
 * @param {Iterable<number>} tokens
 * @param {number} key
 * @param {number} [gamma]
 */
export function watermarkZScore(tokens: Iterable<number>, key: number, gamma?: number): number;
export { OtherRow } from "./_rules/other_row.mjs";
export { Row } from "./_rules/row.mjs";
export { RuleUse } from "./_rules/use.mjs";
/**
 * Keeps tokens at least `p` times as likely as the likeliest (Nguyen et al. 2024, arXiv 2407.01082). The same as
 * `Sampler.minP` at temperature 1; here it comes before the sampler's temperature.
 */
export const minP: import("./_rules/definition.mjs").Rule<"p", never>;
/**
 * Keeps logits at most `n` standard deviations below the largest (Tang et al. 2024, arXiv 2411.07641). The deviation is
 * that of the tokens that may be drawn.
 */
export const topNSigma: import("./_rules/definition.mjs").Rule<"n", never>;
/**
 * Cuts tokens less likely than `epsilon` and than sqrt(epsilon)·exp(-entropy) (Hewitt et al. 2022, arXiv 2210.15191). The
 * likeliest token always stays.
 */
export const eta: import("./_rules/definition.mjs").Rule<"epsilon", never>;
/**
 * Keeps the tokens whose surprise is closest to the entropy, up to a share `mass` of the probability (Meister et al. 2022,
 * arXiv 2202.00666), among the 256 likeliest.
 */
export const typical: import("./_rules/definition.mjs").Rule<"mass", never>;
/**
 * Excludes the top choices: with this `probability` all tokens likelier than `threshold` except the least likely of them
 * (p-e-w 2024, text-generation-webui 6335).
 */
export const xtc: import("./_rules/definition.mjs").Rule<"threshold" | "probability", never>;
/**
 * One temperature where the entropy exceeds `nats`, another elsewhere (after Zhang et al. 2024, arXiv 2403.14541). Give the
 * sampler temperature 1.
 */
export const entropyTemperature: import("./_rules/definition.mjs").Rule<"nats" | "unsure" | "sure", never>;
/**
 * Raises by `delta` the logits of a share `gamma` of the vocabulary, which the previous token and the `key` choose
 * (Kirchenbauer et al. 2023, arXiv 2301.10226). `watermarkZScore` finds it again. Keys have 24 bits.
 */
export const watermark: import("./_rules/definition.mjs").Rule<"key" | "delta" | "gamma", never>;
/**
 * Classifier-free guidance (Sanchez et al. 2023, arXiv 2306.17806): moves the logits away from those of a context without
 * the instruction, or with the opposite one. `scale` 1 changes nothing, 0 is the other context's text.
 */
export const guidance: import("./_rules/definition.mjs").Rule<"scale", never>;
/**
 * Contrastive decoding: of the tokens at least `plausible` times as likely as the likeliest (Li et al. 2022, arXiv
 * 2210.15097), those that an amateur finds less likely gain: (1 + strength)·expert - strength·amateur (O'Brien and Lewis
 * 2023, arXiv 2309.09117). The amateur is a context with less to go on, or without the expert's adapter.
 */
export const contrastive: import("./_rules/definition.mjs").Rule<"plausible" | "strength", never>;
/** The mean of the probabilities of two contexts, the first with this `weight`: what either finds likely. */
export const mixture: import("./_rules/definition.mjs").Rule<"weight", never>;
/**
 * The geometric mean of the probabilities of two contexts, a product of experts (Hinton 2002): what both find likely.
 */
export const product: import("./_rules/definition.mjs").Rule<"weight", never>;
export { rule, vector, whole } from "./_rules/definition.mjs";
export { hashUniform, massThreshold, maximum, minimum, scatter, Value, where } from "./_rules/values.mjs";
