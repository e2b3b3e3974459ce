/**
 * The same mask in minimal runs. Throws InvalidArgumentError for a negative run and InvalidTypeError for anything but
 * whole numbers, both of `what`.
 * @param {Iterable<number>} mask
 * @param {string} [what]
 * @returns {number[]}
 */
export function canonical(mask: Iterable<number>, what?: string): number[];
/**
 * A logit mask in minimal runs, where only `[]` restricts nothing. Throws as `canonical` does.
 * @param {Iterable<number>} mask
 * @param {string} [what]
 * @returns {number[]}
 */
export function restriction(mask: Iterable<number>, what?: string): number[];
/**
 * True where both masks are; as long as the shorter one, in minimal runs.
 * @param {Brle} left
 * @param {Brle} right
 * @returns {number[]}
 */
export function and(left: Brle, right: Brle): number[];
/**
 * AND of logit masks, of which the empty ones restrict nothing.
 * @param {Iterable<Brle>} masks
 * @returns {number[]}
 */
export function combine(masks: Iterable<Brle>): number[];
/**
 * Whether a logit mask allows one of the first `width` tokens.
 * @param {Brle} mask
 * @param {number} width
 */
export function allowsAny(mask: Brle, width: number): boolean;
/**
 * The logit mask that allows exactly these tokens. Throws InvalidArgumentError for none or a negative one.
 * @param {Iterable<number>} tokens
 * @returns {number[]}
 */
export function allowOnly(tokens: Iterable<number>): number[];
/**
 * The mask that is True exactly in these half-open ranges, which may touch and overlap: `spans([0, 4], [96, 128])`.
 * Throws InvalidArgumentError for a negative bound.
 * @param {...readonly [number, number]} ranges
 * @returns {number[]}
 */
export function spans(...ranges: (readonly [number, number])[]): number[];
/**
 * A mask as run lengths.
 */
export type Brle = readonly number[] | Uint32Array;
