/**
 * The configuration as text, and the bytes of the weights.
 * @typedef {{ config: string, weights: Uint8Array }} AdapterFiles
 */
/**
 * The files of a folder. Throws errors of the file system and AdapterFormatError.
 * @param {string} folder
 * @returns {AdapterFiles}
 */
export function readFolder(folder: string): AdapterFiles;
/**
 * Write both files, each whole or not at all. Throws errors of the file system.
 * @param {string} folder
 * @param {AdapterFiles} files
 */
export function writeFolder(folder: string, { config, weights }: AdapterFiles): void;
/**
 * Upload weights in parts. Throws what the engine raises.
 * @param {number} adapter
 * @param {string} config
 * @param {Uint8Array} weights
 */
export function sendWeights(adapter: number, config: string, weights: Uint8Array): import("./types.mjs").AdapterState;
/** The files as the engine has them. @param {number} adapter @returns {AdapterFiles} */
export function fetchWeights(adapter: number): AdapterFiles;
/**
 * The configuration as text, and the bytes of the weights.
 */
export type AdapterFiles = {
    config: string;
    weights: Uint8Array;
};
