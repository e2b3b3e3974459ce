/**
 * A rule that changes the logits as `use` does, and ends the text where `until` does; both see the row as it was. Throws
 * InvalidArgumentError for an `until` that ends nothing or changes logits, for two that see other candidates or break
 * repetitions at other tokens, and for a second one.
 * @param {RuleUse | undefined} use
 * @param {RuleUse} until
 */
export function withEnd(use: RuleUse | undefined, until: RuleUse): RuleUse;
import { RuleUse } from './use.mjs';
