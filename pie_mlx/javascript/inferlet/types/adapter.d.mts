/** The adapter itself, undefined for none. Throws InvalidTypeError for anything else. @param {unknown} adapter */
export function checkedAdapter(adapter: unknown): Adapter | undefined;
/**
 * A seed of noise, 0 for none. Throws InvalidTypeError, and InvalidArgumentError for more than 64 bits.
 * @param {number | bigint | null | undefined} seed
 */
export function checkedSeed(seed: number | bigint | null | undefined): number | bigint;
/** @import { AdapterState } from './_calls/types.mjs' */
/** @import { Model } from './model.mjs' */
/**
 * An adapter of this user on a model. It lives in the engine until it is destroyed, longer than this program.
 *
 * The end of `using` closes this handle and keeps the adapter. Using a destroyed adapter throws AdapterNotFoundError.
 */
export class Adapter {
    /**
     * An adapter that changes nothing until it is loaded. Throws AdapterExistsError for a name that is taken,
     * AdapterError when this user has `max_adapters`, InvalidArgumentError for an empty or overlong name.
     * @param {Model} model
     * @param {string} name
     */
    static create(model: Model, name: string): Adapter;
    /**
     * The adapter of that name; undefined when there is none.
     * @param {Model} model
     * @param {string} name
     * @returns {Adapter | undefined}
     */
    static open(model: Model, name: string): Adapter | undefined;
    private constructor();
    /** The model it belongs to. @readonly */
    readonly model: Model;
    /**
     * An independent copy of weights and evolution state. Throws AdapterExistsError.
     * @param {string} newName
     */
    fork(newName: string): Adapter;
    /**
     * Load the weights of a folder as PEFT or mlx-lm writes it: adapter_config.json and a safetensors file.
     *
     * Passes in flight finish with the weights they began with. When it throws, nothing has changed: an error of the file
     * system, AdapterFormatError for a damaged or unsupported file, AdapterShapeError for the weights of another model.
     * @param {string} path
     */
    load(path: string): void;
    /**
     * Write the weights to a folder, as mlx-lm reads it; the state of an evolution is not written. Throws an error of the
     * file system.
     * @param {string} path
     */
    save(path: string): void;
    /** Free the name and the weights. */
    destroy(): void;
    /** Its name. */
    get name(): string;
    /** The engine's number for it. Throws AdapterNotFoundError once the handle is closed. */
    get id(): number;
    /** Bytes of its weights when this handle last changed them. */
    get sizeBytes(): number;
    [Symbol.dispose](): void;
    #private;
}
import type { Model } from './model.mjs';
import type { AdapterState } from './_calls/types.mjs';
