/** Stack traces for the author of a program: with the paths that they know, without frames of the worker. */

import { fileURLToPath, pathToFileURL } from 'node:url';
import { LaunchError, PieError } from '../inferlet/errors.mjs';

const MACHINERY = fileURLToPath(new URL('..', import.meta.url));
const FRAME = /^\s+at /;
const OF_NODE = /\(?node:internal\/|\(?node:async_hooks|<anonymous>\)?$/;
const DEEPEST_CAUSE = 8;

let rename = (text) => text;

/** Makes traces name files below `home` where they run from copies below `copy`. */
export function nameOriginals(copy, home) {
  const urls = [pathToFileURL(copy).href, pathToFileURL(home).href];
  rename = (text) => text.replaceAll(urls[0], urls[1]).replaceAll(copy, home);
  Error.prepareStackTrace = (error, frames) => {
    let head = 'Error';
    try {
      head = Error.prototype.toString.call(error);
    } catch {} // its name or message cannot be read
    return rename([head, ...frames.map((frame) => `    at ${frame}`)].join('\n'));
  };
}

/** A text in which files have their original paths. */
export function original(text) {
  return rename(String(text));
}

/** What is written to standard error about the error that ended a program; "" for one that needs no place. */
export function trace(error) {
  if (error instanceof LaunchError) return '';
  let text;
  try {
    text = described(error, 0);
  } catch {
    return ''; // the program has its own idea of traces
  }
  return error instanceof PieError && !text.split('\n').some((line) => FRAME.test(line)) ? '' : `${text}\n`;
}

function described(error, depth) {
  if (!(error instanceof Error)) return `Uncaught ${String(error)}`;
  const lines = original(error.stack ?? `${error.name}: ${error.message}`)
    .split('\n')
    .filter((line) => !FRAME.test(line) || !isMachinery(line));
  const more = [error.cause, ...(error.errors ?? [])].filter((one) => one instanceof Error);
  if (depth < DEEPEST_CAUSE) lines.push(...more.map((one) => `  [cause]: ${described(one, depth + 1)}`));
  return lines.join('\n');
}

function isMachinery(line) {
  return line.includes(MACHINERY) || OF_NODE.test(line);
}
