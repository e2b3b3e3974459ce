/** One run of a program. */

import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { LaunchError, ProcessCancelledError, ProcessError } from '../inferlet/errors.mjs';
import { answerRequest } from './http_answer.mjs';
import { Modules } from './modules.mjs';
import { failed, returned } from './outcome.mjs';
import { useScratch } from './scratch.mjs';
import { nameOriginals, original, trace } from './traces.mjs';

const COPIES = '.program';
const HANDLER = 'handle';
const STOP_MILLISECONDS = 100; // for `finally` blocks of a cancelled program

export class Run {
  #link;
  #ended = false;
  #workspace = process.cwd();

  constructor(link, [home, mainFile, entry, call, input, lasting, files = null, stripped = null, packages = {}]) {
    this.#link = link;
    Object.assign(this, { home, mainFile, entry, call, input, lasting, files, stripped, packages });
    link.onStop = (reason) => this.#stop(reason);
  }

  async begin() {
    process.on('uncaughtException', (error) => {
      if (process.listenerCount('uncaughtException') === 1) this.#fail(error);
    });
    process.on('beforeExit', () => this.#fail(idle(this.entry)));
    process.on('exit', (status) => this.#exited(status));
    this.#link.rest();
    try {
      this.#return(await this.#value());
    } catch (error) {
      this.#fail(error);
    }
  }

  async #value() {
    const place = this.#place();
    process.argv = [process.execPath, path.join(this.home, this.mainFile)];
    const modules = new Modules(place, this.stripped ?? {}, this.packages);
    if (this.stripped === null && this.mainFile.endsWith('ts'))
      this.#link.send(['types_stripped', modules.stripAll(this.mainFile)]);
    useScratch(this.#workspace, this.lasting);
    const main = this.#main(await modules.import(this.mainFile));
    const input = JSON.parse(this.input);
    return await (this.call === 'http' ? answerRequest(main, input) : main(input));
  }

  #main(exported) {
    const { [this.entry]: main, [HANDLER]: handler } = exported;
    if (typeof main === 'function') return main;
    if (typeof handler === 'function')
      throw new LaunchError(`${this.mainFile}: it answers HTTP requests ('${HANDLER}') and cannot be run with an input`, {
        hint: 'serve it on a port, with launch_daemon of a client',
      });
    throw new LaunchError(`${this.mainFile}: no 'export async function ${this.entry}(input)'`, {
      hint: 'define it: the value that it returns is the result of the program',
    });
  }

  /** The directory of the program's files, which may be copies. */
  #place() {
    if (this.files === null) return this.home;
    const copy = path.join(this.#workspace, COPIES);
    for (const [name, data] of Object.entries(this.files)) {
      fs.mkdirSync(path.dirname(path.join(copy, name)), { recursive: true });
      fs.writeFileSync(path.join(copy, name), data);
    }
    nameOriginals(copy, this.home);
    return copy;
  }

  #return(value) {
    const frame = returned(value);
    if (!this.lasting) this.#tellOfLostFiles();
    this.#end(frame);
  }

  #fail(error) {
    if (this.#ended) return;
    const text = trace(error);
    if (text) this.#link.write('stderr', text.toWellFormed());
    const frame = failed(error);
    if (frame[3]) frame[3][2] = original(frame[3][2]);
    this.#end(frame);
  }

  #end(frame) {
    if (this.#ended) return;
    this.#ended = true;
    this.#link.send(frame);
    process.exit(0);
  }

  /** `process.exit` ends a program early; status 0 is success. */
  #exited(status) {
    if (this.#ended) return;
    this.#ended = true;
    this.#link.send(status === 0 ? ['ended'] : ['ended', '', 'none', ['', 'SystemExit', String(status)]]);
    process.exitCode = 0;
  }

  #stop(reason) {
    const error = new ProcessCancelledError(reason);
    this.#link.close(error);
    setTimeout(() => this.#fail(error), STOP_MILLISECONDS);
  }

  /** Warns about files in a directory that is removed with the program, except hidden and temporary ones. */
  #tellOfLostFiles() {
    let names;
    try {
      names = fs.readdirSync(this.#workspace).filter((name) => !name.startsWith('.')).sort();
    } catch {
      return; // the program has removed it
    }
    if (names.length === 0) return;
    const more = names.length > 1 ? ` and ${names.length - 1} more` : '';
    const what = 'removed with the program; send files with session.sendFile, or keep them in /scratch with --allow-fs';
    this.#link.write('stderr', `[pie] '${names[0]}'${more}: ${what}\n`);
  }
}

function idle(entry) {
  return new ProcessError(`${entry} awaits what cannot happen any more: no call, timer or file is left to wait for`, {
    hint: 'resolve the promise that it awaits',
  });
}
