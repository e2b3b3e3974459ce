/**
 * `/scratch`: a fixed name for a directory of the host, in arguments and errors of `node:fs`.
 *
 * A convenience, not a protection: programs can also use the host's path. The sandbox protects other files.
 */

import fs from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const NAME = '/scratch';
const ONE_PATH = (
  'access appendFile chmod chown cp exists glob lchmod lchown lstat lutimes mkdir mkdtemp open openAsBlob opendir ' +
  'readdir readFile readlink realpath rm rmdir stat statfs truncate unlink unwatchFile utimes watch watchFile writeFile ' +
  'createReadStream createWriteStream'
).split(' ');
const TWO_PATHS = 'copyFile cp link rename symlink'.split(' ');
const ANSWERS = ['realpath', 'readlink', 'mkdtemp']; // paths
const OF_ATTRIBUTES = 'chmod chown lchmod lchown lutimes utimes'.split(' ');

/** Makes `workspace` /scratch if it is `lasting`; otherwise there is none. */
export function useScratch(workspace, lasting) {
  const scratch = new Scratch(workspace, lasting);
  for (const name of new Set([...ONE_PATH, ...TWO_PATHS])) {
    for (const form of [name, `${name}Sync`]) scratch.wrap(fs, form, name);
    scratch.wrap(fs.promises, name, name);
  }
  module.syncBuiltinESMExports();
}

class Scratch {
  constructor(workspace, lasting) {
    this.workspace = workspace;
    this.lasting = lasting;
  }

  wrap(holder, form, name) {
    const function_ = holder[form];
    if (typeof function_ !== 'function') return;
    const count = TWO_PATHS.includes(name) ? 2 : 1;
    const scratch = this;
    const wrapped = function (...given) {
      const paths = given.slice(0, count);
      const given_ = [...paths.map((path) => scratch.host(path, name)), ...given.slice(count)];
      const callback = given_.at(-1);
      if (typeof callback === 'function' && holder === fs)
        given_[given_.length - 1] = (error, ...rest) => {
          if (error && scratch.isHarmless(error, name)) callback(null);
          else callback(scratch.told(error), ...rest.map((one) => (ANSWERS.includes(name) ? scratch.shown(one) : one)));
        };
      return scratch.outcome(name, () => function_.apply(this, given_));
    };
    holder[form] = Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(function_));
  }

  outcome(name, act) {
    const answer = (value) => (ANSWERS.includes(name) ? this.shown(value) : value);
    const failure = (error) => {
      if (this.isHarmless(error, name)) return undefined;
      throw this.told(error);
    };
    let result;
    try {
      result = act();
    } catch (error) {
      return failure(error);
    }
    return result instanceof Promise ? result.then(answer, failure) : answer(result);
  }

  /** Modes, owners and times cannot be changed in the sandbox: inside the workspace that has no effect. */
  isHarmless(error, name) {
    return error.code === 'EPERM' && OF_ATTRIBUTES.includes(name) && below(error.path, this.workspace);
  }

  /** The host's path for a program's path. */
  host(path, call) {
    const text = path instanceof URL && path.protocol === 'file:' ? fileURLToPath(path) : path;
    const isBytes = text instanceof Uint8Array;
    const plain = isBytes ? Buffer.from(text).toString('latin1') : text;
    if (!below(plain, NAME)) return path;
    if (!this.lasting)
      throw Object.assign(new Error(`EACCES: the file system is off: set [runtime] allow_fs = true, ${call} '${plain}'`), {
        code: 'EACCES',
        errno: -13,
        syscall: call,
        path: plain,
      });
    const found = this.workspace + plain.slice(NAME.length);
    return isBytes ? Buffer.from(found, 'latin1') : found;
  }

  /** The program's path for the host's. */
  shown(path) {
    return this.lasting && below(path, this.workspace) ? NAME + path.slice(this.workspace.length) : path;
  }

  told(error) {
    if (!this.lasting || !(error instanceof Error)) return error;
    for (const field of ['path', 'dest']) if (error[field]) error[field] = this.shown(error[field]);
    error.message = error.message.replaceAll(this.workspace, NAME);
    return error;
  }
}

function below(path, directory) {
  return typeof path === 'string' && (path === directory || path.startsWith(`${directory}/`));
}
