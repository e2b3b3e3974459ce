/** The text without the white space before it, as Unicode defines it. @param {string} text */
export function withoutSpaceBefore(text: string): string;
/**
 * Position and text of the earliest marker, the longest at that position.
 * @param {string} text
 * @param {Iterable<string>} markers
 * @returns {[number, string] | undefined}
 */
export function firstMarker(text: string, markers: Iterable<string>): [number, string] | undefined;
/**
 * The length of the longest suffix of `text` that could begin a marker.
 * @param {string} text
 * @param {Iterable<string>} markers
 */
export function partialMarker(text: string, markers: Iterable<string>): number;
/** Finds the end of a block. A closing inside a JSON string does not count, where the block is JSON. */
export class ClosingFinder {
    /** @param {string} closing */
    constructor(closing: string);
    /**
     * The position of the closing in the block so far. Reads each character once.
     * @param {string} block
     * @returns {number | undefined}
     */
    find(block: string): number | undefined;
    #private;
}
