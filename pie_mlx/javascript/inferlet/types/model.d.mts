/** @param {unknown} model @returns {Model} */
export function checkedModel(model: unknown): Model;
/**
 * @import { ModelInfo, Vocabulary } from './_calls/types.mjs'
 * @typedef {'mean' | 'last' | 'cls' | 'max'} Pooling
 */
/** The tokenizer of a model, from `model.tokenizer()`. */
export class Tokenizer {
    private constructor();
    /** The model's name. @readonly */
    readonly modelName: string;
    /**
     * Text to token ids; special tokens written in the text are recognised. With `begins` the text begins a sequence: the
     * tokens come first that the tokenizer puts before a text, such as BOS, unless the text has them itself.
     * @param {string} text
     * @param {{ begins?: boolean }} [options]
     */
    encode(text: string, { begins }?: {
        begins?: boolean;
    }): Uint32Array<ArrayBuffer>;
    /**
     * Token ids to text, special tokens kept. Throws InvalidArgumentError for an id outside the vocabulary.
     * @param {Iterable<number>} tokens
     */
    decode(tokens: Iterable<number>): string;
    /** The whole vocabulary: token ids and the bytes each stands for, as parallel arrays. */
    vocabs(): [Uint32Array<ArrayBufferLike>, Uint8Array<ArrayBufferLike>[]];
    /** The special tokens: ids and texts in bytes, as parallel arrays. */
    specialTokens(): [Uint32Array<ArrayBufferLike>, Uint8Array<ArrayBufferLike>[]];
    /** The regular expression of the pre-tokenisation, '' if there is none. */
    splitRegex(): string;
}
/** A model the engine has loaded, from `Model.load`. */
export class Model {
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
    static load(name: string, { template, keepAlive }?: {
        template?: Record<string, unknown>;
        keepAlive?: number;
    }): Model;
    private constructor();
    /** The engine's description of it. @type {Readonly<ModelInfo>} @readonly */
    readonly info: Readonly<ModelInfo>;
    /** The name it was loaded under. */
    get name(): string;
    /** The variables its chat template reads besides the conversation, sorted. */
    get templateVariables(): string[];
    /**
     * Whether it has a chat template of its own. Turns are written as ChatML where it has none, which a base model was
     * not trained on.
     */
    get hasChatTemplate(): boolean;
    /** The model's tokenizer. */
    tokenizer(): Tokenizer;
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
    embed(texts: Iterable<string | Iterable<number>>, { prompt, promptName, dimensions, truncate, pooling, normalize }?: {
        prompt?: string;
        promptName?: string;
        dimensions?: number;
        truncate?: boolean;
        pooling?: Pooling;
        normalize?: boolean;
    }): Promise<Float32Array[] & {
        tokenCounts: number[];
    }>;
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
    rerank(query: string, documents: Iterable<string>, { topN, instruction, truncate }?: {
        topN?: number;
        instruction?: string;
        truncate?: boolean;
    }): Promise<{
        index: number;
        score: number;
    }[] & {
        tokenCounts: number[];
    }>;
}
export type Pooling = "mean" | "last" | "cls" | "max";
import type { ModelInfo } from './_calls/types.mjs';
