/**
 * A vector for each text of tokens, in order. Throws InvalidArgumentError, ContextLengthError, OutOfPagesError.
 * @param {string} model
 * @param {number[][]} texts
 * @param {'mean' | 'last'} pooling
 * @param {boolean} normalize
 * @returns {Promise<Float32Array[]>}
 */
export function embedded(model: string, texts: number[][], pooling: "mean" | "last", normalize: boolean): Promise<Float32Array[]>;
