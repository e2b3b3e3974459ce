/** The results of a pass. */
/** @import { ForwardReply, SentSlot } from './_calls/types.mjs' */
/** @import { Probe, Sampler } from './sampler.mjs' */
/**
 * Names the tokens of one `sample`; read them from the pass's Output. They are `arity` results of the engine's reply
 * from `slot` on; 0 until the handle is part of a pass.
 */
export class SampleHandle {
    slot: number;
    arity: number;
}
/**
 * Names the result of one `probe`; read it from the Output of the pass, or of every step. It is result `slot` of the
 * engine's reply.
 */
export class ProbeHandle {
    slot: number;
    arity: number;
}
/** @typedef {SampleHandle | ProbeHandle} Handle */
/** Slots in order of attachment, and for each handle the range of slots it names. */
export class PassSlots {
    /** @type {SentSlot[]} */
    slots: SentSlot[];
    /** @type {Map<Handle, [number, number]>} */
    spans: Map<Handle, [number, number]>;
    /**
     * Add one slot per index.
     * @param {Handle} handle
     * @param {number[]} indices
     * @param {Sampler | Probe} reading
     */
    attach(handle: Handle, indices: number[], reading: Sampler | Probe): void;
}
/**
 * Results of one pass, read through the handles that were attached to it. A handle of another kind or another pass
 * gives undefined (an empty array from `tokensAt`).
 */
export class Output {
    private constructor();
    /** Tokens a Generator emitted in this step, after stops and limits; empty for raw passes. @readonly */
    readonly tokens: Uint32Array<ArrayBuffer>;
    /**
     * The handle of the Generator's own sampler; undefined for raw passes and after `clearSampler()`.
     * @readonly
     */
    readonly autoSampler: SampleHandle | undefined;
    /** The engine's reply with every slot; undefined when there was nothing to run. */
    get raw(): ForwardReply | undefined;
    /**
     * The token of a sampler with one index and one draw.
     * @param {SampleHandle} handle
     * @returns {number | undefined}
     */
    token(handle: SampleHandle): number | undefined;
    /**
     * All tokens of a sampler: by index, then by draw.
     * @param {Handle} handle
     */
    tokensAt(handle: Handle): Uint32Array<ArrayBuffer>;
    /**
     * Token ids and probabilities of a `Distribution` probe, most likely first.
     * @param {Handle} handle
     * @returns {[Uint32Array, Float32Array] | undefined}
     */
    distribution(handle: Handle): [Uint32Array, Float32Array] | undefined;
    /**
     * A `Logits` probe: vocabulary times 4 bytes, native-endian float32. `new Float32Array(bytes.buffer)` reads them.
     * @param {Handle} handle
     * @returns {Uint8Array | undefined}
     */
    logits(handle: Handle): Uint8Array | undefined;
    /**
     * The natural logarithms of a `Logprob` or `Logprobs` probe, in request order, or those of the tokens of a sampler
     * that scores.
     * @param {Handle} handle
     * @returns {Float32Array | undefined}
     */
    logprobs(handle: Handle): Float32Array | undefined;
    /**
     * What the sampler's rule carries after each token: `sampler.after(out.states(handle).at(-1))` draws the next one.
     * @param {SampleHandle} handle
     */
    states(handle: SampleHandle): number[][];
    /**
     * An `Entropy` probe, in nats.
     * @param {Handle} handle
     * @returns {number | undefined}
     */
    entropy(handle: Handle): number | undefined;
    /**
     * A `HiddenState` or `HiddenMean` probe: as many values as the model is wide.
     * @param {Handle} handle
     * @returns {Float32Array | undefined}
     */
    hiddenState(handle: Handle): Float32Array | undefined;
    /**
     * An `AttentionScores` probe: one row with a score for each page of the context; `byGroup` a row for each KV head,
     * layer by layer.
     * @param {Handle} handle
     * @returns {Float32Array[] | undefined}
     */
    attentionScores(handle: Handle): Float32Array[] | undefined;
    #private;
}
export type Handle = SampleHandle | ProbeHandle;
import type { SentSlot } from './_calls/types.mjs';
import type { Sampler } from './sampler.mjs';
import type { Probe } from './sampler.mjs';
import type { ForwardReply } from './_calls/types.mjs';
