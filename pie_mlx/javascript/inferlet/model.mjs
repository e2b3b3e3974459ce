/** Models and their tokenizers. */

import { checkedText, integers, kindOf, tokenList } from './_calls/checks.mjs';
import { embedded } from './_calls/embedding.mjs';
import { callNow } from './_calls/host.mjs';
import { jsonText } from './_calls/payload.mjs';
import { InvalidTypeError } from './errors.mjs';

/** @import { ModelInfo, Vocabulary } from './_calls/types.mjs' */

/** The tokenizer of a model, from `model.tokenizer()`. */
export class Tokenizer {
  /** The model's name. @readonly */
  modelName;

  /** @param {string} modelName @internal */
  constructor(modelName) {
    this.modelName = modelName;
  }

  /**
   * Text to token ids; special tokens written in the text are recognised. With `begins` the text begins a sequence: the
   * tokens come first that the tokenizer puts before a text, such as BOS, unless the text has them itself.
   * @param {string} text
   * @param {{ begins?: boolean }} [options]
   */
  encode(text, { begins = false } = {}) {
    return Uint32Array.from(callNow('encode', { model: this.modelName, text: checkedText(text, 'encode'), begins }));
  }

  /**
   * Token ids to text, special tokens kept. Throws InvalidArgumentError for an id outside the vocabulary.
   * @param {Iterable<number>} tokens
   */
  decode(tokens) {
    return callNow('decode', { model: this.modelName, tokens: integers(tokens, 'tokens') });
  }

  /** The whole vocabulary: token ids and the bytes each stands for, as parallel arrays. */
  vocabs() {
    return arrays(callNow('read_vocabulary', { model: this.modelName }));
  }

  /** The special tokens: ids and texts in bytes, as parallel arrays. */
  specialTokens() {
    return arrays(callNow('read_vocabulary', { model: this.modelName, special_only: true }));
  }

  /** The regular expression of the pre-tokenisation, '' if there is none. */
  splitRegex() {
    return callNow('read_split_regex', { model: this.modelName });
  }
}

/** A model the engine has loaded, from `Model.load`. */
export class Model {
  /** The engine's description of it. @type {Readonly<ModelInfo>} @readonly */
  info;
  /** The variables of its chat template as JSON text. @readonly @internal */
  template;

  /** @param {ModelInfo} info @param {string} template @internal */
  constructor(info, template = '') {
    this.info = info;
    this.template = template;
  }

  /**
   * Bind to a loaded model. `template` sets variables of its chat template for every turn, such as
   * `{ enable_thinking: false }`; `templateVariables` names them.
   *
   * Throws ModelNotFoundError listing the loaded models; InvalidArgumentError for a variable the template does not
   * read, listing those it reads; InvalidTypeError for values that are not JSON.
   * @param {string} name
   * @param {{ template?: Record<string, unknown> }} [options]
   */
  static load(name, { template = {} } = {}) {
    const variables = Object.keys(template).length === 0 ? '' : jsonText('template', sorted(template));
    return new Model(callNow('load_model', { name: checkedText(name, 'model name'), template: variables }), variables);
  }

  /** The name it was loaded under. */
  get name() {
    return this.info.name;
  }

  /** The variables its chat template reads besides the conversation, sorted. */
  get templateVariables() {
    return [...this.info.template_variables];
  }

  /**
   * Whether it has a chat template of its own. Turns are written as ChatML where it has none, which a base model was
   * not trained on.
   */
  get hasChatTemplate() {
    return this.info.has_chat_template;
  }

  /** The model's tokenizer. */
  tokenizer() {
    return new Tokenizer(this.name);
  }

  /**
   * A vector for each text, as long as the model is wide: the mean of the final hidden states of its tokens, or with
   * `last` that of its last token; `normalize` to length 1. Texts are batched with everything else.
   *
   * Texts are tokenised as they are, without a template, or given as their tokens. Throws InvalidArgumentError for a
   * text without tokens and for a model whose hidden states cannot be read, ContextLengthError for one that is too
   * long.
   * @param {Iterable<string | Iterable<number>>} texts
   * @param {{ pooling?: 'mean' | 'last', normalize?: boolean }} [options]
   * @returns {Promise<Float32Array[]>}
   */
  async embed(texts, { pooling = 'mean', normalize = true } = {}) {
    if (typeof texts === 'string') {
      throw new InvalidTypeError('embed: got string', { hint: 'pass an array of texts' });
    }
    const tokens = Array.from(texts, (text) => {
      const ids = typeof text === 'string' ? this.tokenizer().encode(text) : text;
      return tokenList(ids, this.info.vocabulary_size);
    });
    return embedded(this.name, tokens, pooling, normalize);
  }
}

/** @param {unknown} model @returns {Model} */
export function checkedModel(model) {
  if (model instanceof Model) return model;
  throw new InvalidTypeError(`model: got ${kindOf(model)}`, { hint: 'pass what Model.load(name) returns' });
}

/** Equal variables have equal texts. @param {Record<string, unknown>} variables */
function sorted(variables) {
  return Object.fromEntries(Object.entries(variables).sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** @param {Vocabulary} vocabulary @returns {[Uint32Array, Uint8Array[]]} */
function arrays({ token_ids: ids, tokens }) {
  return [Uint32Array.from(ids), tokens];
}
