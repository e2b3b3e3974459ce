/** Adapter folders, read and written by the program: the engine opens no path that a program names. */

import fs from 'node:fs';
import path from 'node:path';
import { AdapterFormatError } from '../errors.mjs';
import { callNow } from './host.mjs';

const CONFIG = 'adapter_config.json';
const SAVED = 'adapters.safetensors';
const WEIGHTS = [SAVED, 'adapter_model.safetensors'];
const PART_BYTES = 4 << 20;

/**
 * The configuration as text, and the bytes of the weights.
 * @typedef {{ config: string, weights: Uint8Array }} AdapterFiles
 */

/**
 * The files of a folder. Throws errors of the file system and AdapterFormatError.
 * @param {string} folder
 * @returns {AdapterFiles}
 */
export function readFolder(folder) {
  const config = fs.readFileSync(path.join(folder, CONFIG));
  const found = WEIGHTS.filter((name) => fs.existsSync(path.join(folder, name)));
  if (found.length !== 1) {
    const hint = `one of ${WEIGHTS.join(' or ')} must be there; convert other files to safetensors`;
    throw new AdapterFormatError(`adapter: ${folder} has ${found.join(' and ') || 'no weights'}`, { hint });
  }
  return { config: decoded(config), weights: fs.readFileSync(path.join(folder, found[0])) };
}

/**
 * Write both files, each whole or not at all. Throws errors of the file system.
 * @param {string} folder
 * @param {AdapterFiles} files
 */
export function writeFolder(folder, { config, weights }) {
  fs.mkdirSync(folder, { recursive: true });
  writeWhole(path.join(folder, SAVED), weights);
  writeWhole(path.join(folder, CONFIG), Buffer.from(config));
}

/**
 * Upload weights in parts. Throws what the engine raises.
 * @param {number} adapter
 * @param {string} config
 * @param {Uint8Array} weights
 */
export function sendWeights(adapter, config, weights) {
  const size = weights.length;
  for (let offset = 0; offset === 0 || offset < size; offset += PART_BYTES) {
    const data = weights.subarray(offset, offset + PART_BYTES);
    const state = callNow('load_adapter', { adapter, config, size_bytes: size, offset, data });
    if (state !== null) return state;
  }
  throw new AdapterFormatError('adapter: its weights are empty', { hint: 'copy the adapter again' });
}

/** The files as the engine has them. @param {number} adapter @returns {AdapterFiles} */
export function fetchWeights(adapter) {
  let part = callNow('read_adapter', { adapter });
  const weights = new Uint8Array(part.size_bytes);
  for (let offset = 0; ; part = callNow('read_adapter', { adapter, offset })) {
    weights.set(part.data, offset);
    offset += part.data.length;
    if (offset >= weights.length) return { config: part.config, weights };
  }
}

/** @param {Uint8Array} bytes */
function decoded(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new AdapterFormatError(`adapter: ${CONFIG} is not text`, { hint: 'copy the adapter again' });
  }
}

/** @param {string} file @param {Uint8Array} bytes */
function writeWhole(file, bytes) {
  const fresh = `${file}.new`;
  fs.writeFileSync(fresh, bytes); // Node's permissions know no fsync
  fs.renameSync(fresh, file);
}
