/**
 * A schema, a constraint, a grammar, or an array of them.
 */
export type Constraints = Schema | Constraint | Grammar | (Schema | Constraint | Grammar)[];
/**
 * `stop`: a stop token. `length`: maxTokens or the model's maximum. `grammar`: the grammar ended. `rule`: the
 * sampler's rule did. `empty`: nothing to run.
 */
export type FinishReason = "stop" | "length" | "grammar" | "rule" | "empty";
/**
 * `autoFlush`, which is on, buffers `cue()` now and stops at the model's stop tokens unless `stop` is given.
 * `constrain` takes schemas and constraints, `logitMask` a static BRLE mask. A model that reasons may think for
 * `thinkingBudget` tokens; then only the end of its thought can be drawn, and the answer follows. `horizon` is the
 * expected number of tokens, for bids only, which are renewed before each step unless `rebidEachStep` is false. With
 * `systemSpeculation` the engine drafts tokens, with `speculator` the program does: the tokens are the same, but one
 * step may give several. `speculation` names who drafts in the engine: `ngram` repeats text, `mtp` is the model's own
 * draft head, `draft_model` a smaller model, `grammar` writes what a grammar leaves no choice about but for blanks, and
 * `auto`, as with `systemSpeculation`, is the one that has earned most lately.
 * `adapter` is applied in every step, with the noise of `zoSeed` added. `others` are the contexts whose rows the
 * sampler's rule reads, in its order, each perhaps with an adapter of its own: they get the same cue and go on with the
 * same tokens. Nothing is drafted with them.
 */
export type GenerateOptions = {
    maxTokens?: number | undefined;
    stop?: Iterable<number> | undefined;
    constrain?: Constraints | undefined;
    logitMask?: Brle | undefined;
    thinkingBudget?: number | undefined;
    speculator?: Speculator | undefined;
    systemSpeculation?: boolean | undefined;
    speculation?: DraftSourceName | undefined;
    adapter?: Adapter | undefined;
    zoSeed?: number | bigint | undefined;
    others?: readonly (Context | readonly [Context, Adapter])[] | undefined;
    horizon?: number | undefined;
    rebidEachStep?: boolean | undefined;
    autoFlush?: boolean | undefined;
};
import type { Schema } from '../constraint.mjs';
import type { Constraint } from '../constraint.mjs';
import type { Grammar } from '../grammar.mjs';
import type { Brle } from '../brle.mjs';
import type { Speculator } from './drafting.mjs';
import type { DraftSourceName } from './drafting.mjs';
import type { Adapter } from '../adapter.mjs';
import type { Context } from '../context.mjs';
