/**
 * Masks as run lengths: alternating runs, the first one False. `[2, 3, 1]` is False False True True True False. As a
 * logit mask, `[]` means "no restriction".
 */

import { integers } from './_calls/checks.mjs';
import { InvalidArgumentError } from './errors.mjs';

/** A mask as run lengths. @typedef {readonly number[] | Uint32Array} Brle */

/** The logit mask that allows nothing; `[]` would allow everything. */
const NOTHING = Object.freeze([0]);

/**
 * The same mask in minimal runs. Throws InvalidArgumentError for a negative run and InvalidTypeError for anything but
 * whole numbers, both of `what`.
 * @param {Iterable<number>} mask
 * @param {string} [what]
 * @returns {number[]}
 */
export function canonical(mask, what = 'mask') {
  const runs = integers(mask, what);
  const negative = runs.reduce((least, run) => Math.min(least, run), 0);
  if (negative < 0) {
    throw new InvalidArgumentError(`${what}: negative run ${negative}`, { hint: 'run lengths count tokens' });
  }
  return minimal(spread(runs));
}

/**
 * A logit mask in minimal runs, where only `[]` restricts nothing. Throws as `canonical` does.
 * @param {Iterable<number>} mask
 * @param {string} [what]
 * @returns {number[]}
 */
export function restriction(mask, what = 'mask') {
  const given = integers(mask, what);
  const runs = canonical(given, what);
  return runs.length > 0 || given.length === 0 ? runs : [...NOTHING];
}

/**
 * True where both masks are; as long as the shorter one, in minimal runs.
 * @param {Brle} left
 * @param {Brle} right
 * @returns {number[]}
 */
export function and(left, right) {
  return minimal(overlaps(left, right));
}

/**
 * AND of logit masks, of which the empty ones restrict nothing.
 * @param {Iterable<Brle>} masks
 * @returns {number[]}
 */
export function combine(masks) {
  /** @type {readonly number[]} */
  let together = [];
  for (const mask of masks) {
    if (mask.length === 0) continue;
    const both = together.length > 0 ? and(together, mask) : Array.from(mask);
    together = both.length > 0 ? both : NOTHING;
  }
  return [...together];
}

/**
 * Whether a logit mask allows one of the first `width` tokens.
 * @param {Brle} mask
 * @param {number} width
 */
export function allowsAny(mask, width) {
  if (mask.length === 0) return true;
  let start = 0;
  for (const [length, allowed] of spread(mask)) {
    if (allowed && start < width) return true;
    start += length;
  }
  return false;
}

/**
 * The logit mask that allows exactly these tokens. Throws InvalidArgumentError for none or a negative one.
 * @param {Iterable<number>} tokens
 * @returns {number[]}
 */
export function allowOnly(tokens) {
  const wanted = [...new Set(integers(tokens, 'tokens'))].sort((left, right) => left - right);
  if (wanted.length === 0 || wanted[0] < 0) {
    const message = 'allowOnly: needs at least one token id, none negative';
    throw new InvalidArgumentError(message, { hint: 'pass token ids' });
  }
  return spans(...wanted.map((token) => /** @type {[number, number]} */ ([token, token + 1])));
}

/**
 * The mask that is True exactly in these half-open ranges, which may touch and overlap: `spans([0, 4], [96, 128])`.
 * Throws InvalidArgumentError for a negative bound.
 * @param {...readonly [number, number]} ranges
 * @returns {number[]}
 */
export function spans(...ranges) {
  const sorted = ranges.map((range) => bounds(range)).sort(([left], [right]) => left - right);
  return minimal(pieces(sorted));
}

/** @param {readonly [number, number]} range @returns {[number, number]} */
function bounds(range) {
  const [start, stop] = integers(range, 'spans');
  if (start >= 0 && stop >= 0 && range.length === 2) return [start, stop];
  throw new InvalidArgumentError(`spans: [${range}]: it has no two bounds, none negative`, {
    hint: 'pass [start, stop]',
  });
}

/** @param {[number, number][]} sorted @returns {Generator<[number, boolean]>} */
function* pieces(sorted) {
  let end = 0;
  for (const [from, stop] of sorted) {
    const start = Math.max(from, end);
    if (start >= stop) continue;
    yield [start - end, false];
    yield [stop - start, true];
    end = stop;
  }
}

/** @param {Brle} mask @returns {Generator<[number, boolean]>} */
function* spread(mask) {
  for (const [place, length] of mask.entries()) if (length > 0) yield [length, place % 2 === 1];
}

/** @param {Brle} left @param {Brle} right @returns {Generator<[number, boolean]>} */
function* overlaps(left, right) {
  const [ours, theirs] = [ends(left), ends(right)];
  let [mine, yours, start] = [ours.next(), theirs.next(), 0];
  while (!mine.done && !yours.done) {
    const end = Math.min(mine.value[0], yours.value[0]);
    yield [end - start, mine.value[1] && yours.value[1]];
    start = end;
    const [mineEnds, yoursEnds] = [mine.value[0] === end, yours.value[0] === end];
    if (mineEnds) mine = ours.next();
    if (yoursEnds) yours = theirs.next();
  }
}

/** The end of each run, with its value. @param {Brle} mask @returns {Generator<[number, boolean], undefined>} */
function* ends(mask) {
  let end = 0;
  for (const [length, value] of spread(mask)) yield [(end += length), value];
}

/** @param {Iterable<[number, boolean]>} runs @returns {number[]} */
function minimal(runs) {
  /** @type {number[]} */
  const mask = [];
  for (const [length, value] of runs) {
    if (length === 0) continue;
    if (mask.length === 0 && value) mask.push(0);
    if (mask.length % 2 === (value ? 0 : 1)) mask[mask.length - 1] += length;
    else mask.push(length);
  }
  return mask;
}
