/** Models and their tokenizers. */

import { checkedText, integer, integers, kindOf, number, tokenList } from './_calls/checks.mjs';
import { embedded, ranked } from './_calls/embedding.mjs';
import { callNow } from './_calls/host.mjs';
import { jsonText } from './_calls/payload.mjs';
import { InvalidArgumentError, InvalidTypeError } from './errors.mjs';

/**
 * @import { ModelInfo, Vocabulary } from './_calls/types.mjs'
 * @typedef {'mean' | 'last' | 'cls' | 'max'} Pooling
 */

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
   * Bind to a model, which is loaded if it is not in memory. `template` sets variables of its chat template for every turn, such as
   * `{ enable_thinking: false }`; `templateVariables` names them. For
   * `keepAlive` seconds without use it stays in memory, forever if they are negative.
   *
   * Throws ModelNotFoundError listing the models; ModelLoadError where there is no memory for it; InvalidArgumentError for a variable the template does not
   * read, listing those it reads; InvalidTypeError for values that are not JSON.
   * @param {string} name
   * @param {{ template?: Record<string, unknown>, keepAlive?: number }} [options]
   */
  static load(name, { template = {}, keepAlive } = {}) {
    const variables = Object.keys(template).length === 0 ? '' : jsonText('template', sorted(template));
    const kept = keepAlive === undefined ? {} : { keep_alive_seconds: number(keepAlive, 'keepAlive') };
    const asked = { name: checkedText(name, 'model name'), template: variables, ...kept };
    return new Model(callNow('load_model', asked), variables);
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
   * A vector for each text, made as the model was trained for: see `info.embedding`. Texts are batched with everything
   * else. The array also has `tokenCounts`, the tokens of each text, special ones included.
   *
   * `prompt` stands before each text, or one of the model's prompts by its `promptName`. Vectors have their first
   * `dimensions` values only, which is sensible for models trained so. With `truncate` texts that are too long are cut
   * at their end. `pooling` makes the vector of a text in another way: of its first (`cls`) or `last` hidden state, of
   * their `mean` or `max`; `normalize` says whether its length is 1.
   *
   * A text may be given as its tokens: these are taken as they are, without a prompt and without the special tokens of
   * the tokenizer. Throws InvalidArgumentError for a text without tokens, for a cross-encoder and for a model whose
   * hidden states cannot be read, ContextLengthError for a text that is too long.
   * @param {Iterable<string | Iterable<number>>} texts
   * @param {{ prompt?: string, promptName?: string, dimensions?: number, truncate?: boolean, pooling?: Pooling,
   *   normalize?: boolean }} [options]
   * @returns {Promise<Float32Array[] & { tokenCounts: number[] }>}
   */
  async embed(texts, { prompt, promptName, dimensions, truncate = false, pooling, normalize } = {}) {
    if (typeof texts === 'string') {
      throw new InvalidTypeError('embed: got string', { hint: 'pass an array of texts' });
    }
    const given = Array.from(texts, (text) =>
      typeof text === 'string' ? checkedText(text, 'embed') : tokenList(text, this.info.vocabulary_size),
    );
    return embedded(given, {
      model: this.name,
      prompt: prompt === undefined ? null : checkedText(prompt, 'prompt'),
      prompt_name: promptName === undefined ? null : checkedText(promptName, 'promptName'),
      pooling: checkedPooling(pooling),
      normalize: normalize ?? null,
      dimensions: dimensions === undefined ? 0 : checkedDimensions(dimensions),
      truncate,
    });
  }

  /**
   * The documents in the order in which they answer the query, the best one first; of them the `topN`. The array also
   * has `tokenCounts`, the tokens that were read for each document, in the order in which they were given.
   *
   * A cross-encoder scores query and document together, a reranker like Qwen3-Reranker judges them, and any other model
   * compares their vectors: see `info.embedding.reranking`. `instruction` tells one that judges what to look for. With
   * `truncate` documents that are too long are cut at their end. Throws as `embed`.
   * @param {string} query
   * @param {Iterable<string>} documents
   * @param {{ topN?: number, instruction?: string, truncate?: boolean }} [options]
   * @returns {Promise<{ index: number, score: number }[] & { tokenCounts: number[] }>}
   */
  async rerank(query, documents, { topN, instruction, truncate = false } = {}) {
    if (typeof documents === 'string') {
      throw new InvalidTypeError('rerank: got string', { hint: 'pass an array of documents' });
    }
    const texts = Array.from(documents, (text) => checkedText(text, 'rerank'));
    const fields = {
      model: this.name,
      query: checkedText(query, 'query'),
      instruction: instruction === undefined ? null : checkedText(instruction, 'instruction'),
      truncate,
    };
    return ranked(texts, fields, topN === undefined ? Infinity : integer(topN, 'topN'));
  }
}

/** @param {Pooling | undefined} name @returns {Pooling | null} */
function checkedPooling(name) {
  if (name === undefined || ['mean', 'last', 'cls', 'max'].includes(name)) return name ?? null;
  throw new InvalidArgumentError(`embed: pooling ${name}`, { hint: "use 'mean', 'last', 'cls' or 'max'" });
}

/** @param {number} count */
function checkedDimensions(count) {
  if (integer(count, 'dimensions') >= 1) return count;
  throw new InvalidArgumentError(`embed: dimensions: ${count}`, { hint: 'ask for 1 or more' });
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
