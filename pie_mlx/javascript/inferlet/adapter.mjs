/** LoRA adapters: overlays on the model's weights, chosen pass by pass. */

import { fetchWeights, readFolder, sendWeights, writeFolder } from './_calls/adapter_files.mjs';
import { checkedText, kindOf, wideInteger } from './_calls/checks.mjs';
import { callNow } from './_calls/host.mjs';
import { AdapterNotFoundError, InvalidArgumentError, InvalidTypeError } from './errors.mjs';
import { checkedModel } from './model.mjs';

/** @import { AdapterState } from './_calls/types.mjs' */
/** @import { Model } from './model.mjs' */

/**
 * An adapter of this user on a model. It lives in the engine until it is destroyed, longer than this program.
 *
 * The end of `using` closes this handle and keeps the adapter. Using a destroyed adapter throws AdapterNotFoundError.
 */
export class Adapter {
  #state;
  #closed = false;

  /** The model it belongs to. @readonly */
  model;

  /**
   * Use `Adapter.create`, `Adapter.open` or `adapter.fork`.
   * @param {Model} model
   * @param {AdapterState} state
   * @internal
   */
  constructor(model, state) {
    this.model = model;
    this.#state = state;
  }

  /**
   * An adapter that changes nothing until it is loaded. Throws AdapterExistsError for a name that is taken,
   * AdapterError when this user has `max_adapters`, InvalidArgumentError for an empty or overlong name.
   * @param {Model} model
   * @param {string} name
   */
  static create(model, name) {
    const text = checkedText(name, 'adapter name');
    return new Adapter(model, callNow('create_adapter', { model: checkedModel(model).name, name: text }));
  }

  /**
   * The adapter of that name; undefined when there is none.
   * @param {Model} model
   * @param {string} name
   * @returns {Adapter | undefined}
   */
  static open(model, name) {
    const text = checkedText(name, 'adapter name');
    const state = callNow('open_adapter', { model: checkedModel(model).name, name: text });
    return state === null ? undefined : new Adapter(model, state);
  }

  /**
   * An independent copy of weights and evolution state. Throws AdapterExistsError.
   * @param {string} newName
   */
  fork(newName) {
    const name = checkedText(newName, 'adapter name');
    return new Adapter(this.model, callNow('fork_adapter', { adapter: this.id, name }));
  }

  /**
   * Load the weights of a folder as PEFT or mlx-lm writes it: adapter_config.json and a safetensors file.
   *
   * Passes in flight finish with the weights they began with. When it throws, nothing has changed: an error of the file
   * system, AdapterFormatError for a damaged or unsupported file, AdapterShapeError for the weights of another model.
   * @param {string} path
   */
  load(path) {
    const { config, weights } = readFolder(path);
    this.learn(sendWeights(this.id, config, weights));
  }

  /**
   * Write the weights to a folder, as mlx-lm reads it; the state of an evolution is not written. Throws an error of the
   * file system.
   * @param {string} path
   */
  save(path) {
    writeFolder(path, fetchWeights(this.id));
  }

  /** Free the name and the weights. */
  destroy() {
    callNow('destroy_adapter', { adapter: this.id });
  }

  /** Its name. */
  get name() {
    return this.#state.name;
  }

  /** The engine's number for it. Throws AdapterNotFoundError once the handle is closed. */
  get id() {
    if (!this.#closed) return this.#state.adapter;
    throw new AdapterNotFoundError(`adapter '${this.name}': this handle is closed`, { hint: 'open it again' });
  }

  /** Bytes of its weights when this handle last changed them. */
  get sizeBytes() {
    return this.#state.size_bytes;
  }

  /** Update the handle with the state that the engine reports. @param {AdapterState} state @internal */
  learn(state) {
    this.#state = state;
  }

  [Symbol.dispose]() {
    this.#closed = true;
  }
}

/** The adapter itself, undefined for none. Throws InvalidTypeError for anything else. @param {unknown} adapter */
export function checkedAdapter(adapter) {
  if (adapter === undefined || adapter === null) return undefined;
  if (adapter instanceof Adapter) return adapter;
  const hint = 'use Adapter.create() or Adapter.open()';
  throw new InvalidTypeError(`adapter: got ${kindOf(adapter)}`, { hint });
}

/**
 * A seed of noise, 0 for none. Throws InvalidTypeError, and InvalidArgumentError for more than 64 bits.
 * @param {number | bigint | null | undefined} seed
 */
export function checkedSeed(seed) {
  if (seed === undefined || seed === null) return 0;
  const number = wideInteger(seed, 'zoSeed');
  if (BigInt.asIntN(64, BigInt(number)) === BigInt(number)) return number;
  const hint = 'use a signed 64-bit integer';
  throw new InvalidArgumentError(`zoSeed: ${number} has more than 64 bits`, { hint });
}
