/** @param {unknown} model @returns {Model} */
export function checkedModel(model: unknown): Model;
/** @import { ModelInfo, Vocabulary } from './_calls/types.mjs' */
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
     * Bind to a loaded model. `template` sets variables of its chat template for every turn, such as
     * `{ enable_thinking: false }`; `templateVariables` names them.
     *
     * Throws ModelNotFoundError listing the loaded models; InvalidArgumentError for a variable the template does not
     * read, listing those it reads; InvalidTypeError for values that are not JSON.
     * @param {string} name
     * @param {{ template?: Record<string, unknown> }} [options]
     */
    static load(name: string, { template }?: {
        template?: Record<string, unknown>;
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
    embed(texts: Iterable<string | Iterable<number>>, { pooling, normalize }?: {
        pooling?: "mean" | "last";
        normalize?: boolean;
    }): Promise<Float32Array[]>;
}
import type { ModelInfo } from './_calls/types.mjs';
