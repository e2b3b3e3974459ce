/** Find delimiters in text that arrives in pieces. */

const SPACE_BEFORE = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** The text without the white space before it, as Unicode defines it. @param {string} text */
export function withoutSpaceBefore(text) {
  return text.replace(SPACE_BEFORE, '');
}

/**
 * Position and text of the earliest marker, the longest at that position.
 * @param {string} text
 * @param {Iterable<string>} markers
 * @returns {[number, string] | undefined}
 */
export function firstMarker(text, markers) {
  /** @type {[number, string] | undefined} */
  let first;
  for (const marker of markers) {
    const at = text.indexOf(marker);
    if (at < 0) continue;
    if (first === undefined || at < first[0] || (at === first[0] && marker.length > first[1].length))
      first = [at, marker];
  }
  return first;
}

/**
 * The length of the longest suffix of `text` that could begin a marker.
 * @param {string} text
 * @param {Iterable<string>} markers
 */
export function partialMarker(text, markers) {
  let longest = 0;
  for (const marker of markers) longest = Math.max(longest, partial(text, marker));
  return longest;
}

/** @param {string} text @param {string} marker */
function partial(text, marker) {
  if (marker === '') return 0;
  let start = text.indexOf(marker[0], Math.max(text.length - marker.length + 1, 0));
  while (start >= 0 && !marker.startsWith(text.slice(start))) start = text.indexOf(marker[0], start + 1);
  return start >= 0 ? text.length - start : 0;
}

/** Finds the end of a block. A closing inside a JSON string does not count, where the block is JSON. */
export class ClosingFinder {
  #closing;
  #place = 0;
  /** @type {boolean | undefined} */
  #isJson;
  #inString = false;

  /** @param {string} closing */
  constructor(closing) {
    this.#closing = closing;
  }

  /**
   * The position of the closing in the block so far. Reads each character once.
   * @param {string} block
   * @returns {number | undefined}
   */
  find(block) {
    if (this.#closing === '') return undefined;
    for (;;) {
      if (this.#inString && !this.#leaveString(block)) return undefined;
      const at = block.indexOf(this.#closing, this.#place);
      const quote = this.#looksLikeJson(block) ? block.indexOf('"', this.#place) : -1;
      if (quote < 0 || (at >= 0 && at < quote)) {
        if (at >= 0) return at;
        this.#place = Math.max(this.#place, block.length - this.#closing.length + 1);
        return undefined;
      }
      this.#place = quote + 1;
      this.#inString = true;
    }
  }

  /** @param {string} block */
  #looksLikeJson(block) {
    if (this.#isJson === undefined) {
      const start = withoutSpaceBefore(block)[0];
      if (start === undefined) return false;
      this.#isJson = start === '{' || start === '[';
    }
    return this.#isJson;
  }

  /** @param {string} block */
  #leaveString(block) {
    while (this.#place < block.length) {
      const character = block[this.#place];
      if (character === '\\') {
        if (this.#place + 1 === block.length) return false;
        this.#place += 2;
        continue;
      }
      this.#place += 1;
      if (character === '"') {
        this.#inString = false;
        return true;
      }
    }
    return false;
  }
}
