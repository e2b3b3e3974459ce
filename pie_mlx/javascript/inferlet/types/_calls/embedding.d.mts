/**
 * A vector for each text, and how many tokens each has. `fields` are those of the calls besides the texts.
 * @param {(string | number[])[]} texts
 * @param {Omit<SentEmbed, 'texts'>} fields
 * @returns {Promise<Float32Array[] & { tokenCounts: number[] }>}
 */
export function embedded(texts: (string | number[])[], fields: Omit<SentEmbed, "texts">): Promise<Float32Array[] & {
    tokenCounts: number[];
}>;
/**
 * Documents in order, the best one first, and how many tokens were read for each. `fields` are those of the calls
 * besides the documents.
 * @param {string[]} documents
 * @param {Omit<SentRerank, 'documents'>} fields
 * @param {number} most
 * @returns {Promise<{ index: number, score: number }[] & { tokenCounts: number[] }>}
 */
export function ranked(documents: string[], fields: Omit<SentRerank, "documents">, most: number): Promise<{
    index: number;
    score: number;
}[] & {
    tokenCounts: number[];
}>;
import type { SentEmbed } from './types.mjs';
import type { SentRerank } from './types.mjs';
