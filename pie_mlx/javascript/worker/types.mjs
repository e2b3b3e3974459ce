/** TypeScript without its types. */

import module from 'node:module';
import { LaunchError } from '../inferlet/errors.mjs';

const HINT = 'write an object or a union of literals for an enum, and fields for parameter properties';

/** The text of a module without its types, with the same lines. Throws LaunchError that says where it cannot be. */
export function stripped(name, text) {
  try {
    return module.stripTypeScriptTypes(text);
  } catch (error) {
    const line = /^:(\d+)\n/.exec(error.stack)?.[1];
    if (line === undefined) throw error;
    throw new LaunchError(`${name}:${line}: ${error.message}`, { hint: HINT });
  }
}
