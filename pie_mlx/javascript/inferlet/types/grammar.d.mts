/** @import { SentGrammarSource } from './_calls/types.mjs' */
/**
 * With `strict`, which is on, an object that declares properties and says nothing of others is closed, and a `format`
 * is enforced; otherwise the schema means what JSON Schema defines, where formats restrict nothing. A keyword that
 * cannot be enforced is refused at compilation; with `lenient` it is ignored and listed in `matcher.warnings`.
 *
 * Properties come in the schema's order, and constants as the schema spells them. With `everySpelling`, up to four
 * properties of an object may come in any order, and a whole number among constants may end in `.0`. With
 * `knownFormats`, a `format` that no grammar enforces is refused and not taken as an annotation.
 *
 * `separators` stand between items and after keys, as `[', ', ': ']`, and there are no other blanks: a model then needs
 * fewer passes, as less is left to its choice. Without them it may write a blank or a line break.
 * @typedef {object} SchemaOptions
 * @property {boolean} [strict]
 * @property {boolean} [lenient]
 * @property {boolean} [everySpelling]
 * @property {boolean} [knownFormats]
 * @property {[string, string]} [separators]
 */
/** The form of constrained text. It compiles when a matcher or a Generator is built on it. */
export class Grammar {
    /** Any JSON value. */
    static json(): Grammar;
    /**
     * JSON obeying a schema, given as JSON text or an object. Throws GrammarError for text that is not JSON.
     * @param {string | object} schema
     * @param {SchemaOptions} [options]
     */
    static fromJsonSchema(schema: string | object, options?: SchemaOptions): Grammar;
    /**
     * Text that matches the pattern as a whole.
     * @param {string | RegExp} pattern
     */
    static fromRegex(pattern: string | RegExp): Grammar;
    /**
     * A grammar in Lark notation or in GBNF (`root ::= ...`). The text is a sentence of the rule `root`; without one of
     * `start` in Lark, of `root` in GBNF.
     * @param {string} ebnf
     * @param {string} [root]
     */
    static fromEbnf(ebnf: string, root?: string): Grammar;
    private constructor();
}
/**
 * With `strict`, which is on, an object that declares properties and says nothing of others is closed, and a `format`
 * is enforced; otherwise the schema means what JSON Schema defines, where formats restrict nothing. A keyword that
 * cannot be enforced is refused at compilation; with `lenient` it is ignored and listed in `matcher.warnings`.
 *
 * Properties come in the schema's order, and constants as the schema spells them. With `everySpelling`, up to four
 * properties of an object may come in any order, and a whole number among constants may end in `.0`. With
 * `knownFormats`, a `format` that no grammar enforces is refused and not taken as an annotation.
 *
 * `separators` stand between items and after keys, as `[', ', ': ']`, and there are no other blanks: a model then needs
 * fewer passes, as less is left to its choice. Without them it may write a blank or a line break.
 */
export type SchemaOptions = {
    strict?: boolean | undefined;
    lenient?: boolean | undefined;
    everySpelling?: boolean | undefined;
    knownFormats?: boolean | undefined;
    separators?: [string, string] | undefined;
};
import type { SentGrammarSource } from './_calls/types.mjs';
