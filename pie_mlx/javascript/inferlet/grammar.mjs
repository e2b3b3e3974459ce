/** Grammars as text, not yet compiled for a model. */

import { checkedText, kindOf } from './_calls/checks.mjs';
import { jsonText } from './_calls/payload.mjs';
import { GrammarError, InvalidTypeError } from './errors.mjs';

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
  /** Its source as calls have it. @readonly @internal */
  source;

  /** Use `Grammar.json()` or another of it. @param {SentGrammarSource} source @internal */
  constructor(source) {
    this.source = source;
  }

  /** Any JSON value. */
  static json() {
    return new Grammar({ kind: 'json' });
  }

  /**
   * JSON obeying a schema, given as JSON text or an object. Throws GrammarError for text that is not JSON.
   * @param {string | object} schema
   * @param {SchemaOptions} [options]
   */
  static fromJsonSchema(schema, options = {}) {
    const { strict = true, lenient = false, everySpelling = false, knownFormats = false, separators = null } = options;
    return new Grammar({
      kind: 'json_schema',
      text: schemaText(schema),
      strict,
      lenient,
      every_spelling: everySpelling,
      known_formats: knownFormats,
      separators,
    });
  }

  /**
   * Text that matches the pattern as a whole.
   * @param {string | RegExp} pattern
   */
  static fromRegex(pattern) {
    return new Grammar({ kind: 'regex', text: checkedText(patternText(pattern), 'regex') });
  }

  /**
   * A grammar in Lark notation or in GBNF (`root ::= ...`). The text is a sentence of the rule `root`; without one of
   * `start` in Lark, of `root` in GBNF.
   * @param {string} ebnf
   * @param {string} [root]
   */
  static fromEbnf(ebnf, root = '') {
    return new Grammar({ kind: 'ebnf', text: checkedText(ebnf, 'ebnf'), root: checkedText(root, 'root') });
  }
}

/** @param {string | RegExp} pattern */
function patternText(pattern) {
  if (!(pattern instanceof RegExp)) return pattern;
  if (pattern.flags === '') return pattern.source;
  throw new InvalidTypeError(`regex: ${pattern} has flags`, { hint: 'write them into the pattern, as in (?i:...)' });
}

/** @param {unknown} schema */
function schemaText(schema) {
  if (typeof schema !== 'string') {
    if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return jsonText('schema', schema);
    throw new InvalidTypeError(`schema: got ${kindOf(schema)}`, { hint: 'pass JSON text or an object' });
  }
  try {
    JSON.parse(checkedText(schema, 'schema'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new GrammarError(`schema: not JSON: ${error.message}`, { hint: 'pass a JSON Schema as JSON text' });
  }
  return schema;
}
