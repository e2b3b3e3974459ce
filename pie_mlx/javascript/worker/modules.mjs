/** What `import` means in a program: the SDK, its own modules, and TypeScript without its types. */

import fs from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LaunchError } from '../inferlet/errors.mjs';
import { syntaxLine } from './syntax.mjs';
import { stripped } from './types.mjs';

const SDK = new URL('../inferlet/', import.meta.url);
const SDK_NAME = /^(?:inferlet|@pie-project\/inferlet)(?:\/(\w+))?$/;
const OWN = /\.(m?js|m?ts)$/;
const LIBRARIES = 'node_modules';
const COMMONJS = /^(?:require|module|exports|__filename|__dirname) is not defined/;
const COMMONJS_HINT = "write an ES module: 'import ... from', and 'export async function main(input)'";

function isTyped(name) {
  return /\.m?ts$/.test(name) && !/\.d\.m?ts$/.test(name) && !name.includes(LIBRARIES);
}

/** The modules of the program in `home`. */
export class Modules {
  #home;
  #stripped;
  #packages;
  #last = { name: '', source: '' };

  /** `stripped` are modules whose types have been stripped before, `packages` the main files of others; both by name. */
  constructor(home, stripped, packages) {
    this.#home = home;
    this.#stripped = stripped;
    this.#packages = packages;
    module.registerHooks({
      resolve: (specifier, context, next) => this.#resolve(specifier, context, next),
      load: (url, context, next) => this.#load(url, context, next),
    });
  }

  /** Executes the main file and returns what it exports. Throws LaunchError if a module of the program is malformed. */
  async import(file) {
    try {
      return await import(pathToFileURL(path.join(this.#home, file)).href);
    } catch (error) {
      throw this.#explained(error, file);
    }
  }

  /** Strips the types of all modules of the program, and returns their texts by path, to be kept. */
  stripAll(main) {
    this.#stripped = {};
    for (const name of this.#names(main).filter(isTyped)) {
      try {
        this.#strip(name);
      } catch (error) {
        if (name === main) throw error; // others may never be imported
      }
    }
    return this.#stripped;
  }

  /** A program of one file may not read the directory around it. */
  #names(main) {
    try {
      return fs.readdirSync(this.#home, { recursive: true });
    } catch (error) {
      if (error.code !== 'EACCES') throw error;
      return [main];
    }
  }

  #resolve(specifier, context, next) {
    const sdk = SDK_NAME.exec(specifier);
    if (sdk !== null) return { url: new URL(`${sdk[1] ?? 'index'}.mjs`, SDK).href, format: 'module', shortCircuit: true };
    if (Object.hasOwn(this.#packages, specifier))
      return { url: pathToFileURL(this.#packages[specifier]).href, shortCircuit: true };
    return next(specifier, context);
  }

  /** Every module of the program is an ES module: without an import or export Node would take it for CommonJS. */
  #load(url, context, next) {
    if (!url.startsWith('file:') || !OWN.test(url)) return next(url, context);
    const name = path.relative(this.#home, fileURLToPath(url));
    if (name.startsWith('..') || name.includes(LIBRARIES)) return next(url, context);
    const source = name.endsWith('ts') ? (this.#stripped[name] ?? this.#strip(name)) : this.#read(name);
    this.#last = { name, source };
    return { format: 'module', source, shortCircuit: true };
  }

  #read(name) {
    return fs.readFileSync(path.join(this.#home, name), 'utf8');
  }

  #strip(name) {
    return (this.#stripped[name] = stripped(name, this.#read(name)));
  }

  #explained(error, file) {
    if (error instanceof ReferenceError && COMMONJS.test(error.message))
      return new LaunchError(`${file}: it is CommonJS: ${error.message.split(' in ES')[0]}`, { hint: COMMONJS_HINT });
    if (!(error instanceof SyntaxError)) return error;
    const instantiated = /^file:.*\/([^/\n]+):(\d+)\n/.exec(error.stack);
    const line = syntaxLine(this.#last.source, error.message);
    const place = instantiated ? `${instantiated[1]}:${instantiated[2]}` : `${this.#last.name}${line ? `:${line}` : ''}`;
    return new LaunchError(`${place}: ${error.message}`, { hint: 'correct the syntax' });
  }
}
