/** The results of a pass. */

/** @import { ForwardReply, SentSlot } from './_calls/types.mjs' */
/** @import { Probe, Sampler } from './sampler.mjs' */

/**
 * Names the tokens of one `sample`; read them from the pass's Output. They are `arity` results of the engine's reply
 * from `slot` on; 0 until the handle is part of a pass.
 */
export class SampleHandle {
  slot = 0;
  arity = 0;
}

/**
 * Names the result of one `probe`; read it from the Output of the pass, or of every step. It is result `slot` of the
 * engine's reply.
 */
export class ProbeHandle {
  slot = 0;
  arity = 0;
}

/** @typedef {SampleHandle | ProbeHandle} Handle */

/** Slots in order of attachment, and for each handle the range of slots it names. */
export class PassSlots {
  /** @type {SentSlot[]} */
  slots = [];
  /** @type {Map<Handle, [number, number]>} */
  spans = new Map();

  /**
   * Add one slot per index.
   * @param {Handle} handle
   * @param {number[]} indices
   * @param {Sampler | Probe} reading
   */
  attach(handle, indices, reading) {
    const first = this.slots.length;
    for (const index of indices) this.slots.push({ index, read: reading.read });
    this.spans.set(handle, [first, this.slots.length]);
    handle.slot = first;
    handle.arity = indices.length;
  }
}

/**
 * Results of one pass, read through the handles that were attached to it. A handle of another kind or another pass
 * gives undefined (an empty array from `tokensAt`).
 */
export class Output {
  #reply;
  #spans;

  /** Tokens a Generator emitted in this step, after stops and limits; empty for raw passes. @readonly */
  tokens;
  /**
   * The handle of the Generator's own sampler; undefined for raw passes and after `clearSampler()`.
   * @readonly
   */
  autoSampler;

  /**
   * @param {ForwardReply | undefined} reply
   * @param {Map<Handle, [number, number]>} spans
   * @param {Iterable<number>} [tokens]
   * @param {SampleHandle} [autoSampler]
   * @internal
   */
  constructor(reply, spans, tokens = [], autoSampler = undefined) {
    this.#reply = reply;
    this.#spans = spans;
    this.tokens = Uint32Array.from(tokens);
    this.autoSampler = autoSampler;
  }

  /** The engine's reply with every slot; undefined when there was nothing to run. */
  get raw() {
    return this.#reply;
  }

  /**
   * The token of a sampler with one index and one draw.
   * @param {SampleHandle} handle
   * @returns {number | undefined}
   */
  token(handle) {
    const tokens = this.tokensAt(handle);
    return tokens.length === 1 ? tokens[0] : undefined;
  }

  /**
   * All tokens of a sampler: by index, then by draw.
   * @param {Handle} handle
   */
  tokensAt(handle) {
    return Uint32Array.from(this.#results(handle, 'sampled_tokens').flatMap((found) => found.tokens));
  }

  /**
   * Token ids and probabilities of a `Distribution` probe, most likely first.
   * @param {Handle} handle
   * @returns {[Uint32Array, Float32Array] | undefined}
   */
  distribution(handle) {
    const found = this.#results(handle, 'probabilities')[0];
    return found && [Uint32Array.from(found.token_ids), Float32Array.from(found.probabilities)];
  }

  /**
   * A `Logits` probe: vocabulary times 4 bytes, native-endian float32. `new Float32Array(bytes.buffer)` reads them.
   * @param {Handle} handle
   * @returns {Uint8Array | undefined}
   */
  logits(handle) {
    return this.#results(handle, 'raw_logits')[0]?.data;
  }

  /**
   * The natural logarithms of a `Logprob` or `Logprobs` probe, in request order, or those of the tokens of a sampler
   * that scores.
   * @param {Handle} handle
   * @returns {Float32Array | undefined}
   */
  logprobs(handle) {
    const probed = this.#results(handle, 'logprob_values')[0]?.values;
    const found = probed ?? this.#results(handle, 'sampled_tokens').flatMap((drawn) => drawn.logprobs);
    return probed || found.length > 0 ? Float32Array.from(found) : undefined;
  }

  /**
   * What the sampler's rule carries after each token: `sampler.after(out.states(handle).at(-1))` draws the next one.
   * @param {SampleHandle} handle
   */
  states(handle) {
    return this.#results(handle, 'sampled_tokens').flatMap((found) => found.states);
  }

  /**
   * An `Entropy` probe, in nats.
   * @param {Handle} handle
   * @returns {number | undefined}
   */
  entropy(handle) {
    return this.#results(handle, 'entropy_value')[0]?.nats;
  }

  /**
   * A `HiddenState` or `HiddenMean` probe: as many values as the model is wide.
   * @param {Handle} handle
   * @returns {Float32Array | undefined}
   */
  hiddenState(handle) {
    const found = this.#results(handle, 'hidden_state_values')[0];
    return found && Float32Array.from(found.values);
  }

  /**
   * An `AttentionScores` probe: one row with a score for each page of the context; `byGroup` a row for each KV head,
   * layer by layer.
   * @param {Handle} handle
   * @returns {Float32Array[] | undefined}
   */
  attentionScores(handle) {
    const found = this.#results(handle, 'attention_score_values')[0];
    if (!found) return undefined;
    const scores = new Float32Array(found.data.slice().buffer);
    const pages = scores.length / found.groups;
    return Array.from({ length: found.groups }, (_, group) => scores.subarray(group * pages, (group + 1) * pages));
  }

  /**
   * @template {ForwardReply['results'][number]['result']} K
   * @param {Handle} handle
   * @param {K} kind
   * @returns {Extract<ForwardReply['results'][number], { result: K }>[]}
   */
  #results(handle, kind) {
    const [first, end] = this.#spans.get(handle) ?? [0, 0];
    const found = this.#reply?.results.slice(first, end) ?? [];
    return /** @type {any} */ (found.filter((result) => result.result === kind));
  }
}
